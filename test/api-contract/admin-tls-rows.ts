/**
 * The contract of certificates and of TLS on every listener.
 */
export const tlsRows = {
  'tls.certs-init': 'certs init makes the CA of a cluster, its key readable only by its owner [decisions 15]',
  'tls.certs-issue': 'certs issue makes a certificate that names node and cluster [decisions 15]',
  'tls.peers': 'nodes prove themselves to each other by certificates of the cluster CA [decisions 15]',
  'tls.plain-peers': 'plain TCP between nodes on loopback only [decisions 15]',
  'tls.plain-listeners':
    'plain HTTP beyond loopback only where the configuration says so [native: Bearer token 5]',
  'tls.listeners': 'both public listeners speak TLS where they are configured to [native: Bearer token 5]',
  'tls.reload': 'certificates of every listener change without a restart [decisions 15]',
  'tls.exit-codes': '2 for wrong use, 3 where a file would be written over, 4 not reachable [decisions 15]',
}
