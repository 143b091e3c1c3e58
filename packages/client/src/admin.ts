/**
 * `@holdfast/client/admin`: the admin plane of Holdfast, for operators.
 */
export * from './call/errors.ts'
export type { ServerEvent } from './call/event-stream.ts'
export type { MethodOptions } from './call/methods.ts'
export { type AdminOptions, HoldfastAdmin } from './client/holdfast-admin.ts'
export type { HoldfastOptions } from './client/options.ts'
export * from './generated/admin-methods.ts'
export type * from './generated/admin-operations.ts'
export { VERSION } from './call/version.ts'
