/**
 * The parameter by which a request names a version of an object.
 */
import { S3Fault } from './s3-errors.ts'

export const VERSION_PARAMETER = 'versionId'

/** Undefined: the newest version. Throws S3Fault InvalidArgument. */
export function versionIn(query: Readonly<Record<string, string>>): string | undefined {
  const versionId = query[VERSION_PARAMETER]
  if (versionId === '') throw new S3Fault('InvalidArgument', 'The parameter versionId is empty')
  return versionId
}
