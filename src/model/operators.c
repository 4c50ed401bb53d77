#include "model/operators.h"

const char *const pyro_operator_class_names[PYRO_OPERATOR_CLASS_COUNT] = {
#define CLASS(id, name) name,
    PYRO_OPERATOR_CLASSES(CLASS)
#undef CLASS
};
const char *const pyro_engine_names[PYRO_ENGINE_COUNT] = {
#define ENGINE(id, name) name,
    PYRO_ENGINES(ENGINE)
#undef ENGINE
};

#define EXACT  false
#define PREFIX true
#define PYRO_OPERATOR(name, match, class_id, engine_id, since, until)                                                  \
    {name, match, PYRO_OPERATOR_##class_id, PYRO_ENGINE_##engine_id, since, until},
const struct pyro_operator pyro_operators[] = {
#include "model/operators.def"
};
#undef PYRO_OPERATOR
const size_t pyro_operator_count = sizeof(pyro_operators) / sizeof(*pyro_operators);

const struct pyro_operator *pyro_operator_find(struct pyro_slice name)
{
    const struct pyro_operator *best = NULL;
    size_t best_len = 0;
    if (!name.ptr)
        return NULL;
    for (size_t i = 0; i < pyro_operator_count; i++) {
        const struct pyro_operator *known = &pyro_operators[i];
        if (name.len == 0 || known->name[0] != name.ptr[0] || !pyro_slice_starts_with(name, known->name))
            continue;
        size_t len = strlen(known->name);
        if (len == name.len)
            return known;
        if (known->prefix && len > best_len) {
            best = known;
            best_len = len;
        }
    }
    return best;
}
