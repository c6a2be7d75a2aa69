/*
 * Starting and stopping: see init.h.
 */
#include "runner/model/init.h"

#include "base/net/http.h"
#include "runner/model/record.h"
#include "runner/settings/command.h"
#include "runner/settings/file.h"

int model_init(struct err *err)
{
	return http_init(err);
}

void model_exit(void)
{
	record_close();
	key_command_exit();
	settings_file_close();
	http_exit();
}
