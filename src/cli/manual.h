// manual.h: the references, from the tables of verbs and of the model file's keys.
#pragma once
#include "cli/cli.h"

extern const char manual_exit_status[]; // one line

void manual_model(FILE *f);            // plain text
void manual_model_markdown(FILE *f);
void manual_schema(FILE *f);           // JSON Schema of a model file (schema.c)
void manual_verbs_markdown(const cli_verb *const *verbs, FILE *f);
/// carom.1, carom-VERB.1 and carom-model.5 in a folder, which is made; false: complained.
bool manual_pages(const cli_verb *const *verbs, const char *folder);
