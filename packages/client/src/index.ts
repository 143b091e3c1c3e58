/**
 * `@holdfast/client`: the data plane of Holdfast for Node.js, browsers, Deno and edge runtimes.
 */
export type { ApiAnswer } from './call/api-client.ts'
export * from './call/errors.ts'
export type { MethodOptions } from './call/methods.ts'
export type { Body, ByteSource } from './call/operation.ts'
export type { RepeatPolicy } from './call/repeating.ts'
export type { Clock } from './call/transport.ts'
export type { AccessKeyCredentials, DataCredentials, TokenCredentials } from './client/credentials.ts'
export { type DataOptions, Holdfast } from './client/holdfast.ts'
export type { HoldfastOptions } from './client/options.ts'
export * from './generated/data-methods.ts'
export type * from './generated/data-operations.ts'
export type { ObjectDownload, ObjectHead } from './methods/object-head.ts'
export type { Download, DownloadOptions, DownloadProgress } from './transfers/download.ts'
export type { UploadOptions, UploadProgress } from './transfers/upload.ts'
export { VERSION } from './call/version.ts'
