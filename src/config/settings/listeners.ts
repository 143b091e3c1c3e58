/** The settings of the listeners and their certificates. */
import type { Setting } from './setting.ts'

export const LISTENER_SETTINGS = [
  {
    name: 'listeners.data',
    kind: 'address',
    fallback: '127.0.0.1:9000',
    meaning: 'address of the data API',
    advice: 'Set listeners.data to host:port of this machine, for example listeners.data: 10.0.0.1:9000.',
  },
  {
    name: 'listeners.admin',
    kind: 'address',
    fallback: '127.0.0.1:9001',
    meaning: 'the address of the admin API and /metrics',
    advice: 'Set listeners.admin to host:port of this machine, for example listeners.admin: 10.0.0.1:9001.',
  },
  {
    name: 'listeners.peer',
    kind: 'address',
    fallback: '127.0.0.1:9002',
    meaning: 'the address for the other nodes; any address except loopback needs peer_tls',
    advice:
      'Set listeners.peer to host:port of this machine that the other nodes reach, for example listeners.peer: 10.0.0.1:9002.',
  },
  {
    name: 'listeners.public_url',
    kind: 'text',
    pattern: /^https?:\/\/[^\s/?#@]+(\/[^\s?#]*[^\s/?#])?$/,
    isUrl: true,
    fallback: null,
    optional: true,
    meaning:
      'the URL at which clients reach the data API, without a slash at the end: the beginning of signed URLs. Without it they begin with listeners.data',
    advice:
      'Set listeners.public_url to the URL of the data API as clients see it, without a slash at the end, for example listeners.public_url: https://storage.example.org.',
  },
  {
    name: 'listeners.content_origin',
    kind: 'origin',
    fallback: null,
    optional: true,
    meaning:
      'an origin such as https://content.example.org that leads to listeners.data too: signed URLs begin with it, downloads by them are served at its host only, and the API is not. Proxies have to pass the Host header on. Without it contents share the origin of the API',
    advice:
      'Set listeners.content_origin to a scheme and a host of its own, without a path, for example listeners.content_origin: https://content.example.org.',
  },
  {
    name: 'listeners.s3_domain',
    kind: 'text',
    pattern: /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(,[a-z0-9]([a-z0-9.-]*[a-z0-9])?)*$/,
    fallback: null,
    optional: true,
    meaning:
      'host names, separated by commas, below which the S3 API finds the bucket in the host: with s3.example.org, photos.s3.example.org is the bucket photos. Without it the bucket is the first part of the path',
    advice:
      'Set listeners.s3_domain to host names in lower case with commas between them, for example listeners.s3_domain: s3.example.org.',
  },
  {
    name: 'listeners.trusted_proxies',
    kind: 'networks',
    fallback: '',
    meaning:
      'the addresses and ranges (CIDR) of the proxies before listeners.data and listeners.admin: from them, and from no other address, Forwarded and X-Forwarded-For name the client',
    advice:
      'List the addresses of your proxies in listeners.trusted_proxies, for example listeners.trusted_proxies: [10.0.0.7, 10.1.0.0/24].',
  },
  {
    name: 'listeners.proxy_protocol',
    kind: 'boolean',
    fallback: 'false',
    meaning:
      'whether the trusted proxies begin each connection with a header of the PROXY protocol, version 2; then it is required of them, and others may not send one',
    advice:
      'Set listeners.proxy_protocol to true if the trusted proxies send the header, or to false, for example listeners.proxy_protocol: true.',
  },
  {
    name: 'listeners.data_plain',
    kind: 'boolean',
    fallback: 'false',
    meaning:
      'whether listeners.data may use plain HTTP on an address that other machines reach; without it such an address needs data_tls',
    advice:
      'Set listeners.data_plain to true only if a proxy ends TLS or the network is private, otherwise to false, for example listeners.data_plain: false.',
  },
  {
    name: 'listeners.admin_plain',
    kind: 'boolean',
    fallback: 'false',
    meaning: 'the same for listeners.admin and admin_tls',
    advice:
      'Set listeners.admin_plain to true only if a proxy ends TLS or the network is private, otherwise to false, for example listeners.admin_plain: false.',
  },
  {
    name: 'listeners.console_data',
    kind: 'boolean',
    fallback: 'true',
    meaning:
      'whether the console reaches the data API at /console/data of listeners.admin, so that tenants can log in there with an access key',
    advice:
      'Set listeners.console_data to false if access keys must not be usable at listeners.admin, otherwise to true, for example listeners.console_data: false.',
  },
  {
    name: 'peer_tls.ca',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning: 'the certificate of the cluster CA (PEM); all three files are read again when they change',
    advice:
      'Set peer_tls.ca to the file of the cluster CA that `holdfast certs` made, for example peer_tls.ca: certs/ca.pem.',
  },
  {
    name: 'peer_tls.cert',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning: 'the certificate of this node from `holdfast certs issue` (PEM)',
    advice:
      'Set peer_tls.cert to the file of the certificate of this node, for example peer_tls.cert: certs/n1.pem.',
  },
  {
    name: 'peer_tls.key',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning: 'the private key of this node (PEM)',
    advice:
      'Set peer_tls.key to the file of the private key of peer_tls.cert, for example peer_tls.key: certs/n1.key.',
  },
  {
    name: 'data_tls.cert',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning:
      'the certificate of listeners.data and all certificates between it and its root (PEM); without it the listener uses plain HTTP',
    advice:
      'Set data_tls.cert to the file of a certificate for the name in the URLs of clients, for example data_tls.cert: certs/n1.pem.',
  },
  {
    name: 'data_tls.key',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning: 'the private key of that certificate (PEM); both files are read again when they change',
    advice:
      'Set data_tls.key to the file of the private key of data_tls.cert, for example data_tls.key: certs/n1.key.',
  },
  {
    name: 'data_tls.client_ca',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning:
      'the authorities (PEM) whose certificates of clients count, for access keys and admin tokens that are bound to one; read again when it changes. Without it clients are asked for none',
    advice:
      'Set data_tls.client_ca to a file with the authorities of client certificates, for example data_tls.client_ca: certs/clients.pem.',
  },
  {
    name: 'data_tls.client_certificates',
    kind: 'text',
    pattern: /^(optional|required)$/,
    fallback: 'optional',
    meaning: 'optional or required: whether a client without such a certificate is turned away',
    advice:
      'Set data_tls.client_certificates to optional or required, for example data_tls.client_certificates: required.',
  },
  {
    name: 'admin_tls.cert',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning: 'the certificate of listeners.admin, as for data_tls.cert; it may be the same file',
    advice:
      'Set admin_tls.cert to the file of a certificate for the name in the URLs of operators, for example admin_tls.cert: certs/n1.pem.',
  },
  {
    name: 'admin_tls.key',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning: 'the private key of that certificate (PEM); both files are read again when they change',
    advice:
      'Set admin_tls.key to the file of the private key of admin_tls.cert, for example admin_tls.key: certs/n1.key.',
  },
  {
    name: 'admin_tls.client_ca',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning:
      'the authorities (PEM) whose certificates of clients count, for access keys and admin tokens that are bound to one; read again when it changes. Without it clients are asked for none',
    advice:
      'Set admin_tls.client_ca to a file with the authorities of client certificates, for example admin_tls.client_ca: certs/clients.pem.',
  },
  {
    name: 'admin_tls.client_certificates',
    kind: 'text',
    pattern: /^(optional|required)$/,
    fallback: 'optional',
    meaning: 'optional or required: whether a client without such a certificate is turned away',
    advice:
      'Set admin_tls.client_certificates to optional or required, for example admin_tls.client_certificates: required.',
  },
] as const satisfies readonly Setting[]
