/**
 * createToken: exchanges an access key for a short-lived bearer token. The only operation without a principal.
 *
 * Rate limit, comparison of the secret and the checks of key and tenant belong to src/access. [decisions 1]
 */
import type { TokenGrant } from '../../access/access.ts'
import type { Services } from '../base/services.ts'

interface CreateTokenInput {
  readonly accessKeyId: string
  readonly secretKey: string
  readonly clientAddress: string
}

export async function createToken(services: Services, input: CreateTokenInput): Promise<TokenGrant> {
  return services.access.exchange(input)
}
