/**
 * The types of the data plane for the command line, as packages/client has them from docs/openapi/data.json.
 */
export type * from '../../../packages/client/src/generated/data-operations.ts'
