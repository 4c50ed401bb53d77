#include "model/access.h"

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
