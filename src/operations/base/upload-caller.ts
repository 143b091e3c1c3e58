/** Whose share of the memory for uploads a body of a request takes. */
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import type { UploadCaller } from '../../content/memory-shares.ts'

/** By signed URL: the key behind it, and the address of its user. */
export function uploadCallerOf({ tenantId, accessKeyId, circumstances }: AccessKeyPrincipal): UploadCaller {
  return { tenantId, accessKeyId, address: circumstances.address }
}
