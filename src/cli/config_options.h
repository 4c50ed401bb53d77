/* --config and --suppress, for verbs that apply rules. */
#ifndef PYROMETER_CLI_CONFIG_OPTIONS_H
#define PYROMETER_CLI_CONFIG_OPTIONS_H

#include "cli.h"

#define CLI_OPTION_CONFIG                                                                                              \
    {                                                                                                                  \
        "config", 0, "FILE", NULL, NULL,                                                                               \
            "Read thresholds and suppressions from FILE (YAML) instead of the configuration files in their usual "     \
            "places. none: read no file."                                                                              \
    }
#define CLI_OPTION_SUPPRESS                                                                                            \
    {                                                                                                                  \
        "suppress", 0, "RULE...", "@rules", NULL,                                                                      \
            "Leave out findings of this rule, or with this id (* matches any text). The report lists them as "         \
            "suppressed. May be given several times."                                                                  \
    }

#define CLI_OPTION_PROFILE                                                                                             \
    {                                                                                                                  \
        "profile", 0, "NAME", "@profiles", NULL,                                                                       \
            "Also show what another tool reports for this run, by its own formulas: dataflint, drelephant, kubeflow "  \
            "or sparklens."                                                                                            \
    }

/* Reads the configuration files and --suppress of a call. CLI_EXIT_OK, or the exit status after a complaint. */
int cli_config_open(const struct cli_call *call, pyro_config **ret);

#endif
