#include "report/renderers.h"

const struct pyro_renderer *const pyro_renderers[] = {
#define PYRO_FORMAT(constant, name, doc) [PYRO_FORMAT_##constant] = &pyro_renderer_##name,
#include "report/formats.def"
#undef PYRO_FORMAT
};
const size_t pyro_renderer_count = sizeof(pyro_renderers) / sizeof(*pyro_renderers);

const char *pyro_format_name(unsigned format)
{
    return format < pyro_renderer_count ? pyro_renderers[format]->name : NULL;
}
