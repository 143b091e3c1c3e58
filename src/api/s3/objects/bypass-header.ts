/**
 * The header by which a client of the S3 API asks that retention in mode GOVERNANCE does not count.
 *
 * Knows nothing of: who may ask; the operations authorize it. [AWS S3 API reference: DeleteObject, PutObjectRetention]
 */
import type { IncomingHttpHeaders } from 'node:http'
import { headerText } from '../../header-text.ts'
import { S3Fault } from '../base/s3-errors.ts'

export const BYPASS_HEADER = 'x-amz-bypass-governance-retention'

/** Throws S3Fault InvalidArgument. */
export function asksToBypass(headers: IncomingHttpHeaders): boolean {
  const text = headerText(headers, BYPASS_HEADER)?.toLowerCase() ?? 'false'
  if (text === 'true' || text === 'false') return text === 'true'
  throw new S3Fault('InvalidArgument', `${BYPASS_HEADER} is "${text.slice(0, 80)}": expected true or false`)
}
