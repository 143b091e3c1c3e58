/**
 * The operations of the admin plane for the command line, as packages/client has them from docs/openapi/admin.json.
 */
export * from '../../../packages/client/src/generated/admin-operations.ts'
