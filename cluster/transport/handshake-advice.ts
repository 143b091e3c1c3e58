/**
 * Why a TLS connection between nodes failed, and how to fix it.
 *
 * Owns: the texts; pure. Knows nothing of: sockets, logging.
 * Rule: the codes are those of OpenSSL and Node; for an unknown code the caller uses a general text.
 */
export interface HandshakeAdvice {
  readonly reason: string
  readonly hint: string
}

const ISSUE =
  'issue one with `holdfast certs issue` and put it where its peer_tls points; no restart is needed'

const ADVICE: readonly { readonly codes: readonly string[]; readonly advice: HandshakeAdvice }[] = [
  {
    codes: ['CERT_HAS_EXPIRED', 'ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED', 'CERT_NOT_YET_VALID'],
    advice: {
      reason: 'a certificate is expired or not valid yet',
      hint: `Check the clocks; if they are right, ${ISSUE}.`,
    },
  },
  {
    codes: [
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      'SELF_SIGNED_CERT_IN_CHAIN',
      'UNABLE_TO_GET_ISSUER_CERT',
      'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'CERT_SIGNATURE_FAILURE',
      'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA',
    ],
    advice: {
      reason: 'a certificate was issued by another authority',
      hint: `peer_tls.ca must be the same on every node; with the authority of this cluster ${ISSUE}.`,
    },
  },
  {
    codes: ['INVALID_PURPOSE', 'ERR_SSL_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE'],
    advice: {
      reason: 'a certificate is not issued for both server and client use',
      hint: `It needs the purposes serverAuth and clientAuth: ${ISSUE}.`,
    },
  },
  {
    codes: ['ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE', 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED'],
    advice: {
      reason: 'no certificate was presented',
      hint: 'Nodes need peer_tls in their configuration; this port is only for nodes.',
    },
  },
  {
    codes: ['ERR_SSL_HTTP_REQUEST', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG'],
    advice: {
      reason: 'the other side does not speak TLS',
      hint: 'Configure peer_tls on every node or on none; without it nodes use only loopback addresses.',
    },
  },
  {
    codes: [
      'ERR_SSL_UNSUPPORTED_PROTOCOL',
      'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION',
      'ERR_SSL_NO_SHARED_CIPHER',
    ],
    advice: {
      reason: 'the other side uses an older version of TLS',
      hint: 'Nodes use TLS 1.3: check that the other side is a node.',
    },
  },
]

export function handshakeAdvice(code: string | undefined): HandshakeAdvice | null {
  if (code === undefined) return null
  return ADVICE.find(({ codes }) => codes.includes(code))?.advice ?? null
}
