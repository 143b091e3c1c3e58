/**
 * createToken: read barrier -> exchanges an access key for a short-lived bearer token. The only operation without a principal.
 *
 * The barrier comes after the credentials, so that callers who send none cannot make the cluster work. Rate limit, comparison of the secret and the checks of key and tenant belong to src/access. [decisions 1]
 */
import type { TokenGrant } from '../../access/access.ts'
import type { Connection } from '../../access/base/principal.ts'
import { openOperation } from '../base/operation.ts'

interface CreateTokenInput {
  readonly accessKeyId: string
  readonly secretKey: string
  readonly clientAddress: string
  readonly connection: Pick<Connection, 'address' | 'certificate'>
}

export const createToken = openOperation(
  { id: 'createToken', refuses: ['access_denied'] },
  async ({ access, cluster }, input: CreateTokenInput): Promise<TokenGrant> => {
    await cluster.readBarrier()
    return access.exchange(input)
  },
)
