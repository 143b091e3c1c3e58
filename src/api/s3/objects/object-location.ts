/**
 * Where an object is for the client that has made it.
 *
 * Rule: the address that the operator gives, or else the host that the client has used; never the one that this node listens at.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Config } from '../../../config/types.ts'
import { urlEncoded } from '../xml/write-xml.ts'

interface Located {
  readonly bucket: string
  readonly key: string
  /** Of the request. */
  readonly headers: IncomingHttpHeaders
}

export function objectLocation(
  { dataTls, listeners }: Pick<Config, 'dataTls' | 'listeners'>,
  { bucket, key, headers }: Located,
): string {
  const { publicUrl, s3Domains } = listeners
  const path = `/${urlEncoded(key)}`
  if (publicUrl !== null) return `${publicUrl}/${bucket}${path}`
  const host = headers.host ?? ''
  const scheme = dataTls === null ? 'http' : 'https'
  const namesBucket = s3Domains.some((domain) => host.toLowerCase().startsWith(`${bucket}.${domain}`))
  return `${scheme}://${host}${namesBucket ? '' : `/${bucket}`}${path}`
}
