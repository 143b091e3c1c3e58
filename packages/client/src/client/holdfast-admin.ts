/**
 * The client of the admin plane: a method for each operation, all pages of listings, and dry runs.
 */
import { ApiClient } from '../call/api-client.ts'
import { FixedToken } from '../call/token-source.ts'
import { AdminDryRuns, AdminMethods } from '../generated/admin-methods.ts'
import { ADMIN_ROUTES, type AdminOperations } from '../generated/admin-operations.ts'
import { texted } from './credentials.ts'
import type { Send } from '../methods/methods-base.ts'
import { type HoldfastOptions, partsOf } from './options.ts'

export interface AdminOptions extends HoldfastOptions {
  /** An admin token. */
  readonly token: string
}

export class HoldfastAdmin extends AdminMethods {
  /** The changes that can be looked at before they are made: each method returns a plan and changes nothing. */
  readonly dryRun: AdminDryRuns

  /** Throws TypeError when an endpoint, the token or an option cannot work. Sends nothing. */
  constructor(options: AdminOptions) {
    const parts = partsOf('admin', options, ['token'])
    const tokens = new FixedToken(texted('token', options.token))
    const client = new ApiClient<AdminOperations, ReadableStream<Uint8Array>>(ADMIN_ROUTES, parts, tokens)
    const send: Send = (operation, call, sending) =>
      client.send(operation as keyof AdminOperations, call, sending)
    super(ADMIN_ROUTES, send)
    this.dryRun = new AdminDryRuns(ADMIN_ROUTES, send)
  }
}
