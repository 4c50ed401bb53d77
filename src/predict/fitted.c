#include "predict/fitted.h"

const char *const pyro_constant_names[PYRO_CONSTANTS] = {
#define PYRO_CONSTANT(name, value, doc) #name,
#include "predict/fitted.def"
#undef PYRO_CONSTANT
};

const double pyro_constants[PYRO_CONSTANTS] = {
#define PYRO_CONSTANT(name, value, doc) value,
#include "predict/fitted.def"
#undef PYRO_CONSTANT
};
