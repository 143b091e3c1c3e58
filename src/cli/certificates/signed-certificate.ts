/**
 * Builds an X.509 certificate from its contents and the key that signs it.
 *
 * Owns: the profile of our certificates, ECDSA with P-256 and SHA-256. Knows nothing of: files, clusters, nodes.
 * Rule: the library only encodes ASN.1; node:crypto makes keys and signatures.
 */
import { createHash, createPublicKey, type KeyObject, randomBytes, sign } from 'node:crypto'
import { isIP } from 'node:net'
import { AsnConvert, OctetString } from '@peculiar/asn1-schema'
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  ExtendedKeyUsage,
  Extension,
  Extensions,
  GeneralName,
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_subjectAltName,
  id_ce_subjectKeyIdentifier,
  id_kp_clientAuth,
  id_kp_serverAuth,
  KeyIdentifier,
  KeyUsage,
  KeyUsageFlags,
  Name,
  RelativeDistinguishedName,
  SubjectAlternativeName,
  SubjectKeyIdentifier,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from '@peculiar/asn1-x509'

export interface CertificateTerms {
  readonly commonName: string
  readonly issuerName: string
  /** The key of the subject; for a CA its own. */
  readonly publicKey: KeyObject
  /** DNS names and IP addresses. */
  readonly hosts: readonly string[]
  readonly uri: string
  readonly isAuthority: boolean
  readonly notBefore: Date
  readonly notAfter: Date
}

const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2'
const COMMON_NAME = '2.5.4.3'
const SERIAL_BYTES = 16

/** PEM. `signer` is the private key of the authority. */
export function signedCertificate(terms: CertificateTerms, signer: KeyObject): string {
  const algorithm = new AlgorithmIdentifier({ algorithm: ECDSA_WITH_SHA256 })
  const { notBefore, notAfter } = terms
  const tbsCertificate = new TBSCertificate({
    version: Version.v3,
    serialNumber: serialNumber(),
    signature: algorithm,
    issuer: nameOf(terms.issuerName),
    validity: new Validity({ notBefore, notAfter }),
    subject: nameOf(terms.commonName),
    subjectPublicKeyInfo: publicKeyInfo(terms.publicKey),
    extensions: extensionsOf(terms, signer),
  })
  const signed = sign('sha256', Buffer.from(AsnConvert.serialize(tbsCertificate)), signer)
  const certificate = new Certificate({
    tbsCertificate,
    signatureAlgorithm: algorithm,
    signatureValue: exactBuffer(signed),
  })
  return pemOf(Buffer.from(AsnConvert.serialize(certificate)))
}

/** Positive and not zero, as RFC 5280 4.1.2.2 requires. The top bits are fixed, so that every number has the same length. */
function serialNumber(): ArrayBuffer {
  const bytes = randomBytes(SERIAL_BYTES)
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40
  return exactBuffer(bytes)
}

function nameOf(commonName: string): Name {
  const value = new AttributeValue({ utf8String: commonName })
  return new Name([new RelativeDistinguishedName([new AttributeTypeAndValue({ type: COMMON_NAME, value })])])
}

function publicKeyInfo(key: KeyObject): SubjectPublicKeyInfo {
  return AsnConvert.parse(key.export({ type: 'spki', format: 'der' }), SubjectPublicKeyInfo)
}

function keyId(key: KeyObject): ArrayBuffer {
  const bits = Buffer.from(publicKeyInfo(key).subjectPublicKey)
  return exactBuffer(createHash('sha1').update(bits).digest())
}

function extensionsOf(
  { publicKey, isAuthority, hosts, uri }: CertificateTerms,
  signer: KeyObject,
): Extensions {
  const usage = isAuthority
    ? KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign
    : KeyUsageFlags.digitalSignature
  const constraints = isAuthority ? { cA: true, pathLenConstraint: 0 } : { cA: false }
  const names = [...hosts.map(hostName), new GeneralName({ uniformResourceIdentifier: uri })]
  const authority = new AuthorityKeyIdentifier({
    keyIdentifier: new KeyIdentifier(keyId(createPublicKey(signer))),
  })
  const critical = true
  const all = [
    extension(id_ce_basicConstraints, new BasicConstraints(constraints), critical),
    extension(id_ce_keyUsage, new KeyUsage(usage), critical),
    extension(id_ce_subjectAltName, new SubjectAlternativeName(names)),
    extension(id_ce_subjectKeyIdentifier, new SubjectKeyIdentifier(keyId(publicKey))),
    extension(id_ce_authorityKeyIdentifier, authority),
  ]
  if (!isAuthority) {
    const purposes = new ExtendedKeyUsage([id_kp_serverAuth, id_kp_clientAuth])
    all.push(extension(id_ce_extKeyUsage, purposes))
  }
  return new Extensions(all)
}

function extension(extnID: string, value: object, critical = false): Extension {
  return new Extension({ extnID, critical, extnValue: new OctetString(AsnConvert.serialize(value)) })
}

function hostName(host: string): GeneralName {
  return isIP(host) === 0 ? new GeneralName({ dNSName: host }) : new GeneralName({ iPAddress: host })
}

/** Copies: a small Buffer shares the memory of a larger one. */
const exactBuffer = (bytes: Buffer): ArrayBuffer => new Uint8Array(bytes).buffer

function pemOf(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}
