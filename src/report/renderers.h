/* Every renderer of formats.def, each in the file of its name. */
#ifndef PYRO_REPORT_RENDERERS_H
#define PYRO_REPORT_RENDERERS_H

#include "report/report.h"

#define PYRO_FORMAT(constant, name, doc) extern const struct pyro_renderer pyro_renderer_##name;
#include "report/formats.def"
#undef PYRO_FORMAT

#endif
