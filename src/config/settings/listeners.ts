/** The settings of the listeners and their certificates. */
import type { Setting } from './setting.ts'

export const LISTENER_SETTINGS = [
  { name: 'listeners.data', kind: 'address', fallback: '127.0.0.1:9000', meaning: 'address of the data API' },
  {
    name: 'listeners.admin',
    kind: 'address',
    fallback: '127.0.0.1:9001',
    meaning: 'the address of the admin API and /metrics',
  },
  {
    name: 'listeners.peer',
    kind: 'address',
    fallback: '127.0.0.1:9002',
    meaning: 'the address for the other nodes; any address except loopback needs peer_tls',
  },
  {
    name: 'listeners.public_url',
    kind: 'text',
    pattern: /^https?:\/\/[^\s/?#@]+(\/[^\s?#]*[^\s/?#])?$/,
    fallback: null,
    optional: true,
    meaning:
      'the URL at which clients reach the data API, without a slash at the end: the beginning of signed URLs. Without it they begin with listeners.data',
  },
  {
    name: 'listeners.content_origin',
    kind: 'origin',
    fallback: null,
    optional: true,
    meaning:
      'an origin such as https://content.example.org that leads to listeners.data too: signed URLs begin with it, downloads by them are served at its host only, and the API is not. Proxies have to pass the Host header on. Without it contents share the origin of the API',
  },
  {
    name: 'listeners.s3_domain',
    kind: 'text',
    pattern: /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(,[a-z0-9]([a-z0-9.-]*[a-z0-9])?)*$/,
    fallback: null,
    optional: true,
    meaning:
      'host names, separated by commas, below which the S3 API finds the bucket in the host: with s3.example.org, photos.s3.example.org is the bucket photos. Without it the bucket is the first part of the path',
  },
  {
    name: 'listeners.trusted_proxies',
    kind: 'networks',
    fallback: '',
    meaning:
      'the addresses and ranges (CIDR) of the proxies before listeners.data and listeners.admin: from them, and from no other address, Forwarded and X-Forwarded-For name the client',
  },
  {
    name: 'listeners.proxy_protocol',
    kind: 'boolean',
    fallback: 'false',
    meaning:
      'whether the trusted proxies begin each connection with a header of the PROXY protocol, version 2; then it is required of them, and others may not send one',
  },
  {
    name: 'listeners.data_plain',
    kind: 'boolean',
    fallback: 'false',
    meaning:
      'whether listeners.data may use plain HTTP on an address that other machines reach; without it such an address needs data_tls',
  },
  {
    name: 'listeners.admin_plain',
    kind: 'boolean',
    fallback: 'false',
    meaning: 'the same for listeners.admin and admin_tls',
  },
  {
    name: 'peer_tls.ca',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning: 'the certificate of the cluster CA (PEM); all three files are read again when they change',
  },
  {
    name: 'peer_tls.cert',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning: 'the certificate of this node from `holdfast certs issue` (PEM)',
  },
  {
    name: 'peer_tls.key',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning: 'the private key of this node (PEM)',
  },
  {
    name: 'data_tls.cert',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning:
      'the certificate of listeners.data and all certificates between it and its root (PEM); without it the listener uses plain HTTP',
  },
  {
    name: 'data_tls.key',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning: 'the private key of that certificate (PEM); both files are read again when they change',
  },
  {
    name: 'data_tls.client_ca',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning:
      'the authorities (PEM) whose certificates of clients count, for access keys and admin tokens that are bound to one; read again when it changes. Without it clients are asked for none',
  },
  {
    name: 'data_tls.client_certificates',
    kind: 'text',
    pattern: /^(optional|required)$/,
    fallback: 'optional',
    meaning: 'optional or required: whether a client without such a certificate is turned away',
  },
  {
    name: 'admin_tls.cert',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning: 'the certificate of listeners.admin, as for data_tls.cert; it may be the same file',
  },
  {
    name: 'admin_tls.key',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning: 'the private key of that certificate (PEM); both files are read again when they change',
  },
  {
    name: 'admin_tls.client_ca',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning:
      'the authorities (PEM) whose certificates of clients count, for access keys and admin tokens that are bound to one; read again when it changes. Without it clients are asked for none',
  },
  {
    name: 'admin_tls.client_certificates',
    kind: 'text',
    pattern: /^(optional|required)$/,
    fallback: 'optional',
    meaning: 'optional or required: whether a client without such a certificate is turned away',
  },
] as const satisfies readonly Setting[]
