/*
 * The tables of a Content and its parts: see shape.h.
 */
#include "store/json/shape.h"

static const struct field media_resolution_fields[] = {
	{ "level", FIELD_STRING, NULL, 0 },
	{ "numTokens", FIELD_INT, NULL, 0 },
	{ 0 },
};
static const struct shape media_resolution = { "mediaResolution", media_resolution_fields };

static const struct field code_result_fields[] = {
	{ "outcome", FIELD_STRING, NULL, 0 },
	{ "output", FIELD_STRING, NULL, 0 },
	{ "id", FIELD_ID, NULL, 0 },
	{ 0 },
};
static const struct shape code_result = { "codeExecutionResult", code_result_fields };

static const struct field code_fields[] = {
	{ "code", FIELD_STRING, NULL, 0 },
	{ "language", FIELD_STRING, NULL, 0 },
	{ "id", FIELD_ID, NULL, 0 },
	{ 0 },
};
static const struct shape code = { "executableCode", code_fields };

static const struct field file_data_fields[] = {
	{ "displayName", FIELD_STRING, NULL, 0 },
	{ "fileUri", FIELD_STRING, NULL, 0 },
	{ "mimeType", FIELD_ID, NULL, 0 },
	{ 0 },
};
static const struct shape file_data = { "fileData", file_data_fields };

static const struct field inline_data_fields[] = {
	{ "data", FIELD_BYTES, NULL, 0 },
	{ "displayName", FIELD_STRING, NULL, 0 },
	{ "mimeType", FIELD_ID, NULL, 0 },
	{ 0 },
};
static const struct shape inline_data = { "inlineData", inline_data_fields };

static const struct field call_fields[] = {
	{ "id", FIELD_ID, NULL, 0 },
	{ "args", FIELD_FREE_OBJECT, NULL, 0 },
	{ "name", FIELD_STRING, NULL, 0 },
	{ "partialArgs", FIELD_OPAQUE_LIST, NULL, 0 },
	{ "willContinue", FIELD_BOOL, NULL, 0 },
	{ 0 },
};
static const struct shape function_call = { "functionCall", call_fields };

static const struct field response_part_fields[] = {
	{ "inlineData", FIELD_SHAPE, &inline_data, 0 },
	{ "fileData", FIELD_SHAPE, &file_data, 0 },
	{ 0 },
};
static const struct shape response_part = { "functionResponse.parts", response_part_fields };

static const struct field response_fields[] = {
	{ "willContinue", FIELD_BOOL, NULL, 0 },
	{ "scheduling", FIELD_STRING, NULL, 0 },
	{ "parts", FIELD_SHAPE_LIST, &response_part, 0 },
	{ "id", FIELD_ID, NULL, 0 },
	{ "name", FIELD_STRING, NULL, 0 },
	{ "response", FIELD_FREE_OBJECT, NULL, 0 },
	{ 0 },
};
static const struct shape function_response = { "functionResponse", response_fields };

static const struct field video_fields[] = {
	{ "endOffset", FIELD_STRING, NULL, 0 },
	{ "fps", FIELD_NUMBER, NULL, 0 },
	{ "startOffset", FIELD_STRING, NULL, 0 },
	{ 0 },
};
static const struct shape video = { "videoMetadata", video_fields };

static const struct field tool_call_fields[] = {
	{ "id", FIELD_ID, NULL, 0 },
	{ "toolType", FIELD_STRING, NULL, 0 },
	{ "args", FIELD_FREE_OBJECT, NULL, 0 },
	{ 0 },
};
static const struct shape tool_call = { "toolCall", tool_call_fields };

static const struct field tool_response_fields[] = {
	{ "id", FIELD_ID, NULL, 0 },
	{ "toolType", FIELD_STRING, NULL, 0 },
	{ "response", FIELD_FREE_OBJECT, NULL, 0 },
	{ 0 },
};
static const struct shape tool_response = { "toolResponse", tool_response_fields };

const struct field transcription_fields[] = {
	{ "text", FIELD_STRING, NULL, 0 },         { "finished", FIELD_BOOL, NULL, 0 },
	{ "languageCode", FIELD_STRING, NULL, 0 }, { "speakerLabel", FIELD_STRING, NULL, 0 },
	{ "words", FIELD_OPAQUE_LIST, NULL, 0 },   { 0 },
};
static const struct shape part_transcription = { "audioTranscription", transcription_fields };

static const struct field part_fields[] = {
	{ "mediaResolution", FIELD_SHAPE, &media_resolution, 0 },
	{ "codeExecutionResult", FIELD_SHAPE, &code_result, 0 },
	{ "executableCode", FIELD_SHAPE, &code, 0 },
	{ "fileData", FIELD_SHAPE, &file_data, 0 },
	{ "functionCall", FIELD_SHAPE, &function_call, 0 },
	{ "functionResponse", FIELD_SHAPE, &function_response, 0 },
	{ "inlineData", FIELD_SHAPE, &inline_data, 0 },
	{ "text", FIELD_STRING, NULL, 0 },
	{ "thought", FIELD_BOOL, NULL, 0 },
	{ "thoughtSignature", FIELD_BYTES, NULL, 0 },
	{ "videoMetadata", FIELD_SHAPE, &video, 0 },
	{ "toolCall", FIELD_SHAPE, &tool_call, 0 },
	{ "toolResponse", FIELD_SHAPE, &tool_response, 0 },
	{ "partMetadata", FIELD_FREE_OBJECT, NULL, 0 },
	{ "audioTranscription", FIELD_SHAPE, &part_transcription, 0 },
	{ 0 },
};
static const struct shape part_shape = { "part", part_fields };

static const struct field content_fields[] = {
	{ "parts", FIELD_SHAPE_LIST, &part_shape, 0 },
	{ "role", FIELD_STRING, NULL, 0 },
	{ 0 },
};
const struct shape content_shape = { "content", content_fields };
