/*
 * The end of what the process shares: see exit.h.
 */
#include "runner/model/exit.h"

#include "base/net/http.h"
#include "runner/model/record.h"
#include "runner/settings/command.h"
#include "runner/settings/file.h"

void model_exit(void)
{
	record_close();
	key_command_exit();
	settings_file_close();
	http_exit();
}
