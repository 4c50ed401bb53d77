#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/replace_file.h"

static char folder[64], path[96], other[96];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/pyrometer-replace-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof(path), "%s/file", folder);
    snprintf(other, sizeof(other), "%s/other", folder);
    umask(022);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    rmdir(path);
    unlink(other);
    return rmdir(folder);
}

static void assert_file(const char *name, const char *content, mode_t mode)
{
    char text[64] = "";
    struct stat found;
    FILE *file = fopen(name, "re");
    assert_non_null(file);
    size_t len = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    assert_int_equal(stat(name, &found), 0);
    assert_int_equal(len, strlen(content));
    assert_string_equal(text, content);
    assert_int_equal(found.st_mode & 07777, mode);
}

static size_t files(void)
{
    DIR *all = opendir(folder);
    size_t count = 0;
    assert_non_null(all);
    for (const struct dirent *one; (one = readdir(all));)
        count += one->d_name[0] != '.';
    closedir(all);
    return count;
}

static void test_content_and_permissions(void **state)
{
    (void)state;
    const struct pyro_replacement plain = {.access = PYRO_NEW_FILE_BY_UMASK},
                                  secret = {.access = PYRO_NEW_FILE_PRIVATE, .lasts = true};
    const struct pyro_replacement like = {.access = PYRO_NEW_FILE_BY_UMASK, .like = path, .lasts = true};
    assert_int_equal(pyro_replace_file(path, PYRO_SLICE_LITERAL("one\n"), &plain), 0);
    assert_file(path, "one\n", 0644);
    assert_int_equal(pyro_replace_file(path, PYRO_SLICE_LITERAL(""), &secret), 0);
    assert_file(path, "", 0600);
    assert_int_equal(chmod(path, 0664), 0);
    assert_int_equal(pyro_replace_file(path, PYRO_SLICE_LITERAL("three"), &like), 0);
    assert_file(path, "three", 0664);
    assert_int_equal(pyro_replace_file(other, PYRO_SLICE_LITERAL("four"), &like), 0);
    assert_file(other, "four", 0664);
    unlink(path);
    assert_int_equal(pyro_replace_file(path, PYRO_SLICE_LITERAL("five"), &like), 0);
    assert_file(path, "five", 0644);
    assert_int_equal(files(), 2);
}

/* A reader of the old file keeps what it has, and a link is replaced rather than followed. */
static void test_the_old_file_stays_as_it_was(void **state)
{
    (void)state;
    const struct pyro_replacement how = {.access = PYRO_NEW_FILE_BY_UMASK};
    assert_int_equal(pyro_replace_file(other, PYRO_SLICE_LITERAL("old"), &how), 0);
    assert_int_equal(link(other, path), 0);
    assert_int_equal(pyro_replace_file(path, PYRO_SLICE_LITERAL("new"), &how), 0);
    assert_file(other, "old", 0644);
    assert_file(path, "new", 0644);
}

static void test_failures_leave_nothing(void **state)
{
    (void)state;
    const struct pyro_replacement how = {.access = PYRO_NEW_FILE_BY_UMASK, .lasts = true};
    char missing[128];
    snprintf(missing, sizeof(missing), "%s/none/file", folder);
    assert_int_equal(pyro_replace_file(missing, PYRO_SLICE_LITERAL("x"), &how), ENOENT);
    assert_int_equal(mkdir(path, 0755), 0);
    assert_int_not_equal(pyro_replace_file(path, PYRO_SLICE_LITERAL("x"), &how), 0);
    assert_int_equal(files(), 1);
    char longest[8192];
    memset(longest, 'x', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    assert_int_equal(pyro_replace_file(longest, PYRO_SLICE_LITERAL("x"), &how), ENAMETOOLONG);
}

static int replace_if(const char *former, const char *content)
{
    const struct pyro_slice text = pyro_slice_from(former);
    const struct pyro_replacement how = {.access = PYRO_NEW_FILE_PRIVATE, .former = &text};
    return pyro_replace_file(path, pyro_slice_from(content), &how);
}

/* What another program wrote meanwhile stays, also what only begins alike. */
static void test_only_if_unchanged(void **state)
{
    (void)state;
    assert_int_equal(replace_if("x", "a"), ESTALE);
    assert_int_equal(replace_if(NULL, "one"), 0);
    assert_int_equal(replace_if(NULL, "two"), ESTALE);
    assert_int_equal(replace_if("", "two"), ESTALE);
    assert_int_equal(replace_if("on", "two"), ESTALE);
    assert_int_equal(replace_if("ones", "two"), ESTALE);
    assert_int_equal(replace_if("onE", "two"), ESTALE);
    assert_file(path, "one", 0600);
    assert_int_equal(replace_if("one", ""), 0);
    assert_int_equal(replace_if("", "two"), 0);
    assert_file(path, "two", 0600);
    assert_int_equal(files(), 1);
}

static void test_one_at_a_time(void **state)
{
    int lock = pyro_lock_folder_of(path, 0);
    (void)state;
    assert_true(lock >= 0);
    assert_int_equal(pyro_lock_folder_of(other, 0), -EWOULDBLOCK);
    close(lock);
    lock = pyro_lock_folder_of(other, 0);
    assert_true(lock >= 0);
    close(lock);
    assert_int_equal(files(), 0);
    assert_int_equal(pyro_lock_folder_of("/none/file", 0), -ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_content_and_permissions, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_the_old_file_stays_as_it_was, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_failures_leave_nothing, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_only_if_unchanged, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_one_at_a_time, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
