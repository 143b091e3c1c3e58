/**
 * Where the audit log is exported to: settings in a section of their own below `audit`, and which of them fit each other.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { loadConfig } from '../../src/config/load-config.ts'
import { openTarget } from '../../src/workers/audit-export/open-target.ts'

const REST = `
node: { id: n1, data_dir: data }
cluster: { id: test-cluster, members: [{ id: n1, peer: '127.0.0.1:9002' }] }
security: { master_key_file: key }
`

async function load(t: Test, more: string, environment: Record<string, string> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-config-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'node.yaml')
  await writeFile(file, REST + more)
  return { folder, exported: loadConfig(file, environment).audit.export }
}

t.test('audit.export', async (t) => {
  t.equal((await load(t, '')).exported, null)
  t.equal((await load(t, 'audit: { export: { to: none, url: "tls://siem:6514" } }')).exported, null)

  const { exported, folder } = await load(
    t,
    'audit: { keep: 30d, export: { to: syslog, url: "tls://siem.example:6514", ca: siem.pem } }',
  )
  t.match(exported, {
    kind: 'syslog',
    url: 'tls://siem.example:6514',
    ca: join(folder, 'siem.pem'),
    cert: null,
  })

  const variables = {
    HOLDFAST_AUDIT__EXPORT__TO: 'otlp',
    HOLDFAST_AUDIT__EXPORT__URL: 'http://127.0.0.1:4318/v1/logs',
  }
  t.match((await load(t, '', variables)).exported, { kind: 'otlp', url: 'http://127.0.0.1:4318/v1/logs' })

  const wrong: readonly (readonly [string, RegExp])[] = [
    ['{ to: syslog }', /audit\.export\.url is missing/],
    ['{ to: syslog, url: "https://siem.example" }', /does not fit audit\.export\.to: syslog/],
    ['{ to: otlp, url: "tls://siem.example:6514" }', /does not fit audit\.export\.to: otlp/],
    ['{ to: otlp, url: "http://siem.example/v1/logs" }', /plain HTTP beyond this machine/],
    ['{ to: webhook, url: "https://siem.example" }', /needs audit\.export\.secret_file/],
    ['{ to: otlp, url: "https://siem.example", cert: a.pem }', /cert and key/],
    ['{ to: carrier }', /audit\.export\.to/],
    ['{ too: otlp }', /audit\.export\.too/],
  ]
  for (const [section, message] of wrong)
    await t.rejects(load(t, `audit: { export: ${section} }`), { code: 'invalid_config', message }, section)
})

t.test('[audit_export_unusable]', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-config-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const secretFile = join(folder, 'secret')
  const none = { ca: null, cert: null, key: null, secretFile: null }
  const open = (more: object) =>
    openTarget({ kind: 'webhook', url: 'https://siem.example', ...none, ...more }, Date.now)
  await t.rejects(open({ secretFile }), { code: 'audit_export_unusable', message: /secret_file/ })
  await writeFile(secretFile, 'whsec_c2hvcnQ=\n')
  await t.rejects(open({ secretFile }), { code: 'audit_export_unusable' }, 'a short secret')
  await t.rejects(open({ kind: 'syslog', ca: join(folder, 'no') }), { code: 'audit_export_unusable' })
  await writeFile(secretFile, `whsec_${Buffer.alloc(24).toString('base64')}\n`)
  await (await open({ secretFile })).close()
})
