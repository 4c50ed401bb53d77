/* Configuration files: whatever they are, they are taken, or refused with a message. */
#include "fuzz_kit.h"
#include "pyrometer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pyro_error error = {.size = sizeof(error)};
    pyro_config *config = NULL;
    /* Its own copy, exactly as large, so that every byte read beyond it is seen. */
    char *copy = malloc(size ? size : 1);
    FUZZ_CHECK(copy);
    if (size)
        memcpy(copy, data, size);
    FUZZ_CHECK(pyro_config_new(NULL, &config, &error) == PYRO_OK);
    enum pyro_status status = pyro_config_parse(config, "config.yaml", copy, size, &error);
    FUZZ_CHECK(status == PYRO_OK || status == PYRO_ERROR_ARGUMENT || status == PYRO_ERROR_INPUT);
    if (status != PYRO_OK)
        FUZZ_CHECK(error.message[0] != '\0');
    pyro_config_free(config);
    free(copy);
    return 0;
}
