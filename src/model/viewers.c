#include "model/viewers.h"

#include "model/app.h"

struct pyro_access_lists pyro_access_read(pyro_access_property *property, const void *context)
{
    bool older = pyro_property_bool(property(context, "spark.ui.acls.enable"), false);
    return (struct pyro_access_lists){.enabled = pyro_property_bool(property(context, "spark.acls.enable"), older),
                                      .users = property(context, "spark.ui.view.acls"),
                                      .groups = property(context, "spark.ui.view.acls.groups"),
                                      .admins = property(context, "spark.admin.acls"),
                                      .admin_groups = property(context, "spark.admin.acls.groups")};
}

bool pyro_access_next(struct pyro_slice *list, struct pyro_slice *ret)
{
    while (list->len && (*list->ptr == ',' || *list->ptr == ' '))
        *list = (struct pyro_slice){list->ptr + 1, list->len - 1};
    if (list->len == 0)
        return false;
    const char *comma = memchr(list->ptr, ',', list->len);
    size_t len = comma ? (size_t)(comma - list->ptr) : list->len;
    *ret = (struct pyro_slice){list->ptr, len};
    *list = (struct pyro_slice){list->ptr + len, list->len - len};
    while (ret->len && ret->ptr[ret->len - 1] == ' ')
        ret->len--;
    return true;
}

/* Whether the list has the name, or * for everybody. */
static bool has(struct pyro_slice list, struct pyro_slice name)
{
    struct pyro_slice one;
    while (pyro_access_next(&list, &one))
        if (pyro_slice_is(one, "*") || pyro_slice_eq(one, name))
            return true;
    return false;
}

static bool has_any(struct pyro_slice list, struct pyro_slice names)
{
    struct pyro_slice one;
    if (has(list, PYRO_SLICE_LITERAL("*")))
        return true;
    while (pyro_access_next(&names, &one))
        if (has(list, one))
            return true;
    return false;
}

bool pyro_access_lets(const struct pyro_access_lists *lists, bool always, struct pyro_slice user,
                      struct pyro_slice groups)
{
    return (!lists->enabled && !always) || has(lists->users, user) || has(lists->admins, user) ||
           has_any(lists->groups, groups) || has_any(lists->admin_groups, groups);
}
