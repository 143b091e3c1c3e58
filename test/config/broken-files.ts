/**
 * Configurations that are wrong in more than the value of one setting: contradictions, files that cannot be used, foreign data.
 *
 * Owns: the rows, each with the code that refuses it. Rule: each row breaks one thing of a configuration that would start.
 */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { MadeCertificates } from '../transport/made-certificates.ts'
import { LOG_IN_FAULTS, ofLogIn } from './broken-log-in.ts'

export interface BrokenConfiguration {
  readonly what: string
  readonly code: string
  /** Changes of the smallest configuration; null leaves a setting out. */
  readonly settings?: Readonly<Record<string, string | null>>
  readonly environment?: Readonly<Record<string, string>>
  /** Whether the node is started with --join. */
  readonly joins?: true
  /** Prepares the folder of the configuration, in which a good key file lies. */
  readonly prepare?: (folder: string) => void
}

const fault = (
  what: string,
  settings: Readonly<Record<string, string | null>>,
  environment = {},
): BrokenConfiguration => ({ what, code: 'invalid_config', settings, environment })

const VAULT = {
  'security.master_key_provider': 'vault',
  'security.vault.url': 'https://vault.example:8200',
  'security.vault.key_name': 'holdfast',
  'security.vault.credential_file': 'token',
}
const KMS = {
  'security.master_key_provider': 'kms',
  'security.kms.url': 'https://kms.example',
  'security.kms.key_name': 'holdfast',
  'security.kms.token_file': 'token',
}

const PKCS11 = {
  'security.master_key_provider': 'pkcs11',
  'security.pkcs11.module': 'module.so',
  'security.pkcs11.token_label': 'holdfast',
  'security.pkcs11.key_id': '"01"',
  'security.pkcs11.pin_file': 'token',
}

function ofKeyProviders(): readonly BrokenConfiguration[] {
  const without = (all: Readonly<Record<string, string>>): readonly BrokenConfiguration[] =>
    Object.keys(all)
      .filter((name) => name !== 'security.master_key_provider')
      .map((name) => fault(`a provider of the master key without ${name}`, { ...all, [name]: null }))
  return [
    ...without(VAULT),
    ...without(KMS),
    ...without(PKCS11),
    ...LOG_IN_FAULTS.map(({ what, settings }) => fault(what, settings)),
    fault('a login without a role', { ...VAULT, 'security.vault.auth': 'approle' }),
    fault('a Vault in plain text', { ...VAULT, 'security.vault.url': 'http://vault.example:8200' }),
    fault('a key service in plain text', { ...KMS, 'security.kms.url': 'http://kms.example' }),
    fault('half of the certificate for a key service', { ...KMS, 'security.kms.client_cert': 'n1.pem' }),
    fault('a certificate for a key service without TLS', {
      ...KMS,
      'security.kms.url': 'http://127.0.0.1:8080',
      'security.kms.client_cert': 'n1.pem',
      'security.kms.client_key': 'n1.key',
    }),
  ]
}

export const CONTRADICTIONS: readonly BrokenConfiguration[] = [
  fault('an unknown setting', { 'node.idd': 'n1' }),
  fault('an unknown section', { 'cluser.id': 'test-cluster' }),
  fault('an unknown environment variable', {}, { HOLDFAST_NODE__IDD: 'n1' }),
  fault('a wrong value in an environment variable', {}, { HOLDFAST_AUDIT__STRICT: 'yes' }),
  fault('several faults', { 'audit.strict': 'yes', 'limits.burst': '10', 'node.id': null }),
  fault('elections sooner than ten heartbeats', { 'cluster.heartbeat': '200ms' }),
  fault('a disk that stops writing before it stops placing', { 'disk.stop_placing': '99%' }),
  fault('a reserve that is larger than what stops writing', { 'disk.reserve_free': '31GiB' }),
  fault('a directory for blobs twice', { 'node.blob_directories': '[d1, d2, d1]' }),
  fault('a directory for blobs within another', { 'node.blob_directories': '[d1, d1/inner]' }),
  fault('a directory for blobs within the data directory', { 'node.blob_directories': '[data/raft]' }),
  fault('a directory for blobs around the data directory', { 'node.blob_directories': '["."]' }),
  fault('two listeners with one address', { 'listeners.admin': '127.0.0.1:9000' }),
  fault('the peer listener with the address of another', { 'listeners.peer': '127.0.0.1:9001' }),
  fault('a listener on every address with the port of another', {
    'listeners.data': '0.0.0.0:9001',
    'listeners.data_plain': 'true',
  }),
  fault('a PROXY header without proxies', { 'listeners.proxy_protocol': 'true' }),
  fault('contents at the origin of the API', { 'listeners.content_origin': 'http://127.0.0.1:9000' }),
  fault('two of three files of peer_tls', { 'peer_tls.ca': 'ca.pem', 'peer_tls.cert': 'n1.pem' }),
  fault('a certificate without its key', { 'data_tls.cert': 'n1.pem' }),
  fault('a key without its certificate', { 'admin_tls.key': 'n1.key' }),
  fault('authorities of clients without TLS', { 'data_tls.client_ca': 'ca.pem' }),
  fault('required certificates of clients without authorities', {
    'admin_tls.cert': 'n1.pem',
    'admin_tls.key': 'n1.key',
    'admin_tls.client_certificates': 'required',
  }),
  fault('less memory than a node takes', { 'limits.memory': '63MiB' }),
  fault('an export without a receiver', { 'audit.export.to': 'otlp' }),
  fault('a receiver of another kind', {
    'audit.export.to': 'syslog',
    'audit.export.url': 'https://a.example',
  }),
  fault('an export in plain text', {
    'audit.export.to': 'otlp',
    'audit.export.url': 'http://a.example/v1/logs',
  }),
  fault('half of the certificate of an export', {
    'audit.export.to': 'otlp',
    'audit.export.url': 'https://a.example/v1/logs',
    'audit.export.cert': 'n1.pem',
  }),
  fault('a webhook without a secret', {
    'audit.export.to': 'webhook',
    'audit.export.url': 'https://a.example/',
  }),
  ...ofKeyProviders(),
  fault('traces in plain text', { 'tracing.url': 'http://collector.example:4318/v1/traces' }),
  ...(['data', 'admin'] as const).map((listener) => ({
    what: `a plain ${listener} listener that other machines reach`,
    code: 'listener_tls_required',
    settings: { [`listeners.${listener}`]: '0.0.0.0:9100' },
  })),
  {
    what: 'a plain peer listener that other machines reach',
    code: 'peer_tls_required',
    settings: { 'listeners.peer': '0.0.0.0:9002' },
  },
  {
    what: 'a member on another machine without TLS',
    code: 'peer_tls_required',
    settings: { 'cluster.members': '[{id: n1, peer: "127.0.0.1:9002"}, {id: n2, peer: "10.0.0.2:9002"}]' },
  },
  { what: 'a node that is no member', code: 'unknown_member', settings: { 'node.id': 'n9' } },
  { what: 'a node that joins itself', code: 'unknown_member', joins: true },
]

export const writes = (name: string, text: string) => (folder: string) =>
  writeFileSync(join(folder, name), text, { mode: 0o600 })
export const makes = (name: string, mode: number) => (folder: string) => {
  mkdirSync(join(folder, name), { recursive: true })
  chmodSync(join(folder, name), mode)
}
/** Of a node that ran here. */
export const leaves = (identity: Readonly<Record<string, unknown>>) => (folder: string) => {
  makes('data', 0o700)(folder)
  const own = {
    format: 1,
    clusterId: 'test-cluster',
    nodeId: 'n1',
    incarnation: 'a',
    fingerprint: '',
    boot: 1,
  }
  writes('data/identity.json', JSON.stringify({ ...own, ...identity }))(folder)
}

export const OF_DATA: readonly BrokenConfiguration[] = [
  {
    what: 'a data directory under a file',
    code: 'data_dir_unusable',
    settings: { 'node.data_dir': 'key/data' },
  },
  {
    what: 'a data directory that is a file',
    code: 'data_dir_unusable',
    settings: { 'node.data_dir': 'key' },
  },
  { what: 'a data directory that others write to', code: 'data_dir_exposed', prepare: makes('data', 0o777) },
  { what: 'the data of another node', code: 'foreign_node', prepare: leaves({ nodeId: 'n2' }) },
  {
    what: 'the data of another cluster',
    code: 'foreign_cluster',
    prepare: leaves({ clusterId: 'other-cluster' }),
  },
  { what: 'the data of another key', code: 'wrong_fingerprint', prepare: leaves({ fingerprint: 'x' }) },
  { what: 'data without an identity', code: 'identity_missing', prepare: makes('data/raft', 0o700) },
  { what: 'a damaged identity', code: 'damaged_identity', prepare: leaves({ format: 'x' }) },
  {
    what: 'damaged members',
    code: 'damaged_members',
    prepare: (folder) => {
      makes('data', 0o700)(folder)
      writes('data/members.json', '{}\nx\n')(folder)
    },
  },
  {
    what: 'members that cannot be read',
    code: 'members_unreadable',
    prepare: makes('data/members.json', 0o700),
  },
  {
    what: 'a node that joins with the data of a member',
    code: 'data_not_empty',
    settings: { 'cluster.members': '[{id: n2, peer: "127.0.0.1:9012"}]' },
    joins: true,
    prepare: leaves({}),
  },
]

/** Of each setting that names a file: it is missing, it is a folder, its contents are something else. */
export function ofFiles(certificates: MadeCertificates): readonly BrokenConfiguration[] {
  const { ca, cert, key } = certificates.issue('n1')
  const other = certificates.issue('n2')
  const garbage = writes('garbage', 'no key, no certificate\n')
  const three = (setting: string, code: string, good: Readonly<Record<string, string>>) => [
    {
      what: `${setting}: a missing file`,
      code: `${code}_unreadable`,
      settings: { ...good, [setting]: 'none' },
    },
    { what: `${setting}: a folder`, code: `${code}_unreadable`, settings: { ...good, [setting]: '.' } },
    {
      what: `${setting}: other contents`,
      code: `${code}_invalid`,
      settings: { ...good, [setting]: 'garbage' },
      prepare: garbage,
    },
  ]
  const peer = { 'peer_tls.ca': ca, 'peer_tls.cert': cert, 'peer_tls.key': key }
  const listener = (section: string) => ({
    [`${section}.cert`]: cert,
    [`${section}.key`]: key,
    [`${section}.client_ca`]: ca,
  })
  const sections = [
    ['peer_tls', peer],
    ['listener_tls', listener('data_tls')],
    ['listener_tls', listener('admin_tls')],
  ] as const
  return [
    ...sections.flatMap(([code, good]) => Object.keys(good).flatMap((setting) => three(setting, code, good))),
    ...sections.map(([code, good]) => {
      const [setting = ''] = Object.keys(good).filter((name) => name.endsWith('.key'))
      return {
        what: `${setting}: a key of another certificate`,
        code: `${code}_invalid`,
        settings: { ...good, [setting]: other.key },
      }
    }),
    {
      what: 'peer_tls.cert: a certificate of another node',
      code: 'peer_certificate_wrong_name',
      settings: { ...peer, 'peer_tls.cert': other.cert, 'peer_tls.key': other.key },
    },
    ...ofMasterKey(garbage),
    ...ofProviderFiles({ ca, cert, key, otherKey: other.key }, garbage),
    ...ofExport({ ca, cert, key, otherKey: other.key }, garbage),
    ...ofLogIn(ca, garbage),
  ]
}

function ofMasterKey(garbage: (folder: string) => void): readonly BrokenConfiguration[] {
  const setting = 'security.master_key_file'
  return [
    { what: `${setting}: a missing file`, code: 'master_key_missing', settings: { [setting]: 'none' } },
    { what: `${setting}: a folder`, code: 'master_key_malformed', settings: { [setting]: '.' } },
    {
      what: `${setting}: other contents`,
      code: 'master_key_malformed',
      settings: { [setting]: 'garbage' },
      prepare: garbage,
    },
    {
      what: `${setting}: a file that others read`,
      code: 'master_key_exposed',
      prepare: (folder) => chmodSync(join(folder, 'key'), 0o644),
    },
  ]
}

/** Lines that a provider has wrapped; nothing opens them before the start. */
const wraps = (provider: string) => (folder: string) =>
  writes('key', `holdfast-wrapped-key-1:mk-a:${'0'.repeat(64)}:${provider}:1:AAAA\n`)(folder)

function ofProviderFiles(
  { ca, cert, key, otherKey }: ExportFiles,
  garbage: (folder: string) => void,
): readonly BrokenConfiguration[] {
  const code = 'key_provider_unusable'
  const vault = { ...VAULT, 'security.vault.ca': ca }
  const kms = {
    ...KMS,
    'security.kms.ca': ca,
    'security.kms.client_cert': cert,
    'security.kms.client_key': key,
  }
  const prepareFor = (provider: string) => (folder: string) => {
    garbage(folder)
    writes('token', 'hvs.token\n')(folder)
    writes('module.so', '\x7fELF')(folder)
    wraps(provider)(folder)
  }
  const wrong = { 'a missing file': 'none', 'a folder': '.', 'other contents': 'garbage' }
  const rows = (good: Readonly<Record<string, string>>, provider: string): readonly BrokenConfiguration[] =>
    Object.keys(good)
      .filter((name) =>
        /\.(ca|client_cert|client_key|credential_file|token_file|module|pin_file)$/.test(name),
      )
      .flatMap((setting) =>
        Object.entries(wrong).map(([what, file]) => ({
          what: `${setting}: ${what}`,
          code,
          settings: { ...good, [setting]: file },
          prepare: prepareFor(provider),
        })),
      )
  return [
    ...rows(vault, 'vault'),
    ...rows(kms, 'kms'),
    ...rows(PKCS11, 'pkcs11'),
    {
      what: 'security.kms.client_key: another key',
      code,
      settings: { ...kms, 'security.kms.client_key': otherKey },
      prepare: prepareFor('kms'),
    },
    {
      what: 'a plain key file with a provider',
      code: 'master_key_wrong_provider',
      settings: vault,
      prepare: writes('token', 'hvs.token\n'),
    },
    {
      what: 'a wrapped key file without a provider',
      code: 'master_key_wrong_provider',
      prepare: wraps('vault'),
    },
    {
      what: 'a key file that another provider wrapped',
      code: 'master_key_wrong_provider',
      settings: kms,
      prepare: prepareFor('vault'),
    },
    {
      what: 'the data of another key, with a provider',
      code: 'wrong_fingerprint',
      settings: vault,
      prepare: (folder) => {
        prepareFor('vault')(folder)
        leaves({ fingerprint: 'x' })(folder)
      },
    },
  ]
}

type ExportFiles = Readonly<Record<'ca' | 'cert' | 'key' | 'otherKey', string>>

function ofExport(
  { ca, cert, key, otherKey }: ExportFiles,
  garbage: (folder: string) => void,
): readonly BrokenConfiguration[] {
  const code = 'audit_export_unusable'
  const good = {
    'audit.export.to': 'webhook',
    'audit.export.url': 'https://logs.example/',
    'audit.export.ca': ca,
    'audit.export.cert': cert,
    'audit.export.key': key,
    'audit.export.secret_file': 'secret',
  }
  const prepare = (folder: string): void => {
    garbage(folder)
    writes('secret', `whsec_${Buffer.alloc(32).toString('base64')}\n`)(folder)
  }
  const files = Object.keys(good).filter((name) => !/\.(to|url)$/.test(name))
  return [
    ...files.flatMap((setting) =>
      Object.entries({ 'a missing file': 'none', 'a folder': '.', 'other contents': 'garbage' }).map(
        ([what, file]) => ({
          what: `${setting}: ${what}`,
          code,
          settings: { ...good, [setting]: file },
          prepare,
        }),
      ),
    ),
    {
      what: 'audit.export.key: another key',
      code,
      settings: { ...good, 'audit.export.key': otherKey },
      prepare,
    },
    {
      what: 'audit.export.secret_file: an empty header',
      code,
      settings: { ...good, 'audit.export.to': 'otlp', 'audit.export.secret_file': 'empty' },
      prepare: (folder) => {
        prepare(folder)
        writes('empty', '\n')(folder)
      },
    },
  ]
}
