/**
 * Reads the files of peer_tls, data_tls and admin_tls.
 */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { certificateNames, isLoopbackAddress, StartError } from '../../../cluster/index.ts'
import type { Config } from '../../config/types.ts'
import type { CertificateFacts, ListenerTlsFacts, PeerTlsFacts } from './certificate-checks.ts'

export async function peerTlsFacts({ peerTls, node, listeners, cluster }: Config): Promise<PeerTlsFacts> {
  const addresses = [listeners.peer, ...cluster.members.map(({ peerAddress }) => peerAddress)]
  const isLoopbackOnly = addresses.every(isLoopback)
  if (peerTls === null) return { isLoopbackOnly, files: null }
  const unusable: string[] = []
  const read = readingInto(unusable)
  const ca = await read('peer_tls.ca', peerTls.ca, (pem) => new X509Certificate(pem))
  const cert = await read('peer_tls.cert', peerTls.cert, (pem) => new X509Certificate(pem))
  const key = await read('peer_tls.key', peerTls.key, (pem) => createPrivateKey(pem))
  const certificates = [
    ...(ca === null ? [] : [datesOf('peer_tls.ca', peerTls.ca, ca)]),
    ...(cert === null ? [] : [datesOf('peer_tls.cert', peerTls.cert, cert)]),
  ]
  const files = {
    unusable,
    certificates,
    namesNode: cert !== null && certificateNames(cert, { clusterId: cluster.id, nodeId: node.id }),
    isSignedByCa: ca !== null && cert !== null && isSignedBy(cert, ca),
    keyFits: cert !== null && key !== null && keyFits(cert, key),
    keyMode: key === null ? 0 : (await stat(peerTls.key)).mode & 0o777,
    keyPath: peerTls.key,
  }
  return { isLoopbackOnly, files }
}

export async function listenerTlsFacts({ dataTls, adminTls }: Config): Promise<readonly ListenerTlsFacts[]> {
  const facts: ListenerTlsFacts[] = []
  for (const [listener, files] of [
    ['data', dataTls],
    ['admin', adminTls],
  ] as const) {
    if (files === null) continue
    const unusable: string[] = []
    const read = readingInto(unusable)
    const setting = `${listener}_tls.cert`
    const cert = await read(setting, files.cert, (pem) => new X509Certificate(pem))
    const key = await read(`${listener}_tls.key`, files.key, (pem) => createPrivateKey(pem))
    const certificates = cert === null ? [] : [datesOf(setting, files.cert, cert)]
    const fits = cert !== null && key !== null && keyFits(cert, key)
    facts.push({ listener, unusable, certificates, keyFits: fits })
  }
  return facts
}

/** Returns null for a file that cannot be used, and adds one sentence about it to `unusable`. */
function readingInto(unusable: string[]) {
  return async <T>(setting: string, path: string, parse: (pem: Buffer) => T): Promise<T | null> => {
    try {
      return parse(await readFile(path))
    } catch (cause) {
      const { code = 'no PEM' } = cause as NodeJS.ErrnoException
      unusable.push(`${setting} (${path}) cannot be used: ${code}`)
      return null
    }
  }
}

function isLoopback(address: string): boolean {
  try {
    return isLoopbackAddress(address)
  } catch (cause) {
    if (cause instanceof StartError) return false
    throw cause
  }
}

function datesOf(setting: string, path: string, certificate: X509Certificate): CertificateFacts {
  const { validFromDate, validToDate } = certificate
  return { setting, path, validFrom: validFromDate.getTime(), validTo: validToDate.getTime() }
}

const isSignedBy = (certificate: X509Certificate, authority: X509Certificate): boolean =>
  certificate.checkIssued(authority) && certificate.verify(authority.publicKey)

const keyFits = (certificate: X509Certificate, key: KeyObject): boolean => certificate.checkPrivateKey(key)
