/* Values that were fitted on recorded runs: fitted.def. */
#ifndef PYRO_PREDICT_FITTED_H
#define PYRO_PREDICT_FITTED_H

enum pyro_constant {
#define PYRO_CONSTANT(name, value, doc) PYRO_CONSTANT_##name,
#include "predict/fitted.def"
#undef PYRO_CONSTANT
    PYRO_CONSTANTS
};

extern const char *const pyro_constant_names[PYRO_CONSTANTS];
extern const double pyro_constants[PYRO_CONSTANTS];

#endif
