/** Whose share of the memory for uploads a body of a request takes. */
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import type { UploadCaller } from '../../content/memory-shares.ts'
import { networkOf } from '../../base/network-address.ts'

/** By signed URL: the key behind it, and the address of its user. A client with one IPv6 address has the 2^64 around it too. */
export function uploadCallerOf({ tenantId, accessKeyId, circumstances }: AccessKeyPrincipal): UploadCaller {
  return { tenantId, accessKeyId, address: networkOf(circumstances.address) }
}
