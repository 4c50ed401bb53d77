/* main() for fuzz targets where the compiler has no libFuzzer, and for running kept inputs as tests: every file named
 * on the command line, or found in a folder named there, goes through the target once. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) {
        perror(path);
        return 1;
    }
    long size = ftell(file);
    rewind(file);
    /* Exactly as large as the input, so that the sanitizers see every byte read beyond it. */
    uint8_t *data = size < 0 ? NULL : malloc(size ? (size_t)size : 1);
    int failed = !data || fread(data, 1, (size_t)size, file) != (size_t)size;
    if (failed)
        perror(path);
    else
        LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
    fclose(file);
    return failed;
}

static int run_folder(const char *path)
{
    DIR *folder = opendir(path);
    if (!folder) {
        perror(path);
        return 1;
    }
    int failed = 0;
    const struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) {
        char file[4096];
        struct stat status;
        int len = snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
        if (len > 0 && (size_t)len < sizeof(file) && stat(file, &status) == 0 && S_ISREG(status.st_mode))
            failed |= run_file(file);
    }
    closedir(folder);
    return failed;
}

int main(int argc, char **argv)
{
    int failed = 0;
    for (int i = 1; i < argc; i++) {
        struct stat status;
        if (stat(argv[i], &status) == 0 && S_ISDIR(status.st_mode))
            failed |= run_folder(argv[i]);
        else
            failed |= run_file(argv[i]);
    }
    return failed;
}
