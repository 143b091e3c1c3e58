/**
 * The operations of the data plane for the command line, as packages/client has them from docs/openapi/data.json.
 */
export * from '../../../packages/client/src/generated/data-operations.ts'
