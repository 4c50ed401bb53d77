/* Applications of text logs: whatever the lines are, an application is made of them, or an error says why not. */
#include <stdio.h>
#include <unistd.h>

#include "fuzz_kit.h"
#include "load/load.h"
#include "load/logged/logged.h"

static bool count_line(void *context, struct pyro_slice line)
{
    size_t *lines = context;
    FUZZ_CHECK(line.len > 1 && line.ptr[0] == '{' && line.ptr[line.len - 1] == '}');
    ++*lines;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    struct pyro_load_settings options;
    struct pyro_app *app = NULL;
    size_t lines = 0;
    char path[64];
    if (size > FUZZ_TEXT_LIMIT)
        return 0;
    if (fd < 0)
        fd = memfd_create("driver.log", 0);
    FUZZ_CHECK(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    struct pyro_log_part part = {.path = pyro_slice_from(path), .most_bytes = 1 << 24};
    const struct pyro_log log = {
        .path = PYRO_SLICE_LITERAL("run"), .layout = PYRO_LAYOUT_LOGS, .parts = &part, .part_count = 1};
    FUZZ_CHECK(pyro_load_resolve(NULL, NULL, &options, NULL) == PYRO_OK);
    enum pyro_status status = pyro_logged_load(&log, &options, &app, NULL);
    FUZZ_CHECK(status == PYRO_OK || status == PYRO_ERROR_INPUT);
    if (status == PYRO_OK) {
        FUZZ_CHECK(app->integrity.bad_lines == 0);
        pyro_app_release(app);
    }
    FUZZ_CHECK(pyro_logged_lines(&log, count_line, &lines, NULL) == status);
    FUZZ_CHECK(status != PYRO_OK || lines > 0);
    return 0;
}
