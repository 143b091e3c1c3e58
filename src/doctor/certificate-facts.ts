/**
 * Reads the files of peer_tls, data_tls and admin_tls.
 */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { certificateNames, isLoopbackAddress, StartError } from '../../cluster/index.ts'
import type { Config, ListenerTlsFiles } from '../config/types.ts'
import type { ListenerTlsFacts, PeerTlsFacts } from './certificate-checks.ts'
import type { CertificateFacts } from './certificate-dates.ts'
import type { ClientAuthorityFacts } from './client-authority-checks.ts'

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

export async function listenerTlsFacts({
  dataTls,
  adminTls,
  peerTls,
}: Pick<Config, 'dataTls' | 'adminTls' | 'peerTls'>): Promise<readonly ListenerTlsFacts[]> {
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
    const clients = await clientFacts(`${listener}_tls.client_ca`, files, { peerTls, unusable })
    facts.push({ listener, unusable, certificates, keyFits: fits, clients })
  }
  return facts
}

/** A file may hold several certificates; text around them is passed over, as TLS does. */
async function clientFacts(
  setting: string,
  { clients }: ListenerTlsFiles,
  { peerTls, unusable }: { readonly peerTls: Config['peerTls']; readonly unusable: string[] },
): Promise<ClientAuthorityFacts | null> {
  if (clients === undefined) return null
  const path = clients.ca
  const found = await readingInto(unusable)(setting, path, certificatesIn)
  if (found === null) return null
  // That file has a check of its own.
  const ofNodes = peerTls === null ? null : await readingInto([])('peer_tls.ca', peerTls.ca, certificatesIn)
  const known = new Set(ofNodes?.map(({ fingerprint256 }) => fingerprint256))
  return {
    setting,
    path,
    certificates: found.map((certificate) => ({
      ...datesOf(setting, path, certificate),
      subject: certificate.subject.replaceAll('\n', ', '),
      isAuthority: certificate.ca,
      signsNodes: known.has(certificate.fingerprint256),
    })),
  }
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

function certificatesIn(pem: Buffer): readonly X509Certificate[] {
  return (pem.toString('latin1').match(CERTIFICATE) ?? []).map((text) => new X509Certificate(text))
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
