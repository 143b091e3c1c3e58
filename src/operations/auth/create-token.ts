/**
 * createToken: exchanges an access key for a short-lived bearer token. The only operation without a principal.
 *
 * Rate limit, comparison of the secret and the checks of key and tenant belong to src/access. [decisions 1]
 */
import type { TokenGrant } from '../../access/access.ts'
import { openOperation } from '../base/operation.ts'

interface CreateTokenInput {
  readonly accessKeyId: string
  readonly secretKey: string
  readonly clientAddress: string
}

export const createToken = openOperation(
  { id: 'createToken', refuses: [] },
  async ({ access }, input: CreateTokenInput): Promise<TokenGrant> => access.exchange(input),
)
