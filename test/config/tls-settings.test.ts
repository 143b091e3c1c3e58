/**
 * TLS of the public listeners in the configuration: both files or none, separately for each listener.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { plainTextRefusals } from '../../src/config/start-refusals.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import type { Config } from '../../src/config/types.ts'

const REST = `
node: { id: n1, data_dir: data }
cluster: { id: test-cluster, members: [{ id: n1, peer: '127.0.0.1:9002' }] }
security: { master_key_file: key }
`

async function load(t: Test, more = '') {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-config-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'node.yaml')
  await writeFile(file, REST + more)
  const config: Config = loadConfig(file, {})
  return { folder, config }
}

t.test('data_tls and admin_tls', async (t) => {
  await t.test('are absent by default', async (t) => {
    const { config } = await load(t)
    t.match(config, { dataTls: null, adminTls: null })
  })
  await t.test('belong to one listener each, with paths relative to the configuration file', async (t) => {
    const { config, folder } = await load(t, 'data_tls: { cert: a.pem, key: /keys/a.key }')
    t.same(config.dataTls, { cert: join(folder, 'a.pem'), key: '/keys/a.key' })
    t.equal(config.adminTls, null)
  })
  await t.test('refuse the start with half of a pair', async (t) => {
    for (const section of ['data_tls', 'admin_tls'])
      for (const half of ['cert', 'key'])
        await t.rejects(load(t, `${section}: { ${half}: a }`), {
          code: 'invalid_config',
          message: `${section} needs cert and key, got only ${section}.${half}`,
        })
  })
})

t.test('listeners that would serve other machines over plain HTTP', async (t) => {
  const refused = async (more: string): Promise<string> => {
    const { config } = await load(t, more)
    const [refusal] = plainTextRefusals(config)
    if (refusal === undefined) return 'started'
    const { code, message, hint } = refusal.error
    return `${code}: ${message}. ${hint}`
  }
  await t.test('refuse the start, and name the listener and both remedies', async (t) => {
    for (const address of ['0.0.0.0:9000', '10.0.0.1:9000', '[::]:9000', '[fd00::1]:9000', 'node1:9000'])
      t.match(
        await refused(`listeners: { data: '${address}' }`),
        /^listener_tls_required: .*listeners\.data .*plain HTTP.*data_tls\.cert.*listeners\.data_plain: true/,
        address,
      )
    t.match(await refused(`listeners: { admin: '0.0.0.0:9001' }`), /listeners\.admin .*admin_plain: true/)
    t.match(
      await refused(`listeners: { data: '0.0.0.0:9000', admin: '0.0.0.0:9001', data_plain: true }`),
      /listeners\.admin /,
      'each listener needs its own word',
    )
  })
  await t.test('start on loopback, with certificates, or when the configuration says so', async (t) => {
    const tls = 'data_tls: { cert: a, key: b }'
    for (const more of [
      '',
      `listeners: { data: 'localhost:9000', admin: '[::1]:9001' }`,
      `listeners: { data: '127.0.1.1:9000' }`,
      `listeners: { data: '0.0.0.0:9000' }\n${tls}`,
      `listeners: { data: '0.0.0.0:9000', data_plain: true }`,
    ])
      t.equal(await refused(more), 'started', more)
  })
})

t.test('certificates of clients', async (t) => {
  await t.test(
    'are asked for where an authority is named, and not required unless that is said',
    async (t) => {
      const { config, folder } = await load(t, 'admin_tls: { cert: a, key: b, client_ca: c.pem }')
      t.match(config.adminTls, { clients: { ca: join(folder, 'c.pem'), areRequired: false } })
      const required = 'data_tls: { cert: a, key: b, client_ca: /c, client_certificates: required }'
      t.match((await load(t, required)).config.dataTls, { clients: { ca: '/c', areRequired: true } })
    },
  )
  await t.test('refuse the start when they are required of no authority, or over plain HTTP', async (t) => {
    for (const wrong of [
      'data_tls: { cert: a, key: b, client_certificates: required }',
      'data_tls: { client_ca: c }',
      'data_tls: { cert: a, key: b, client_ca: c, client_certificates: always }',
    ])
      await t.rejects(load(t, wrong), { code: 'invalid_config' }, wrong)
  })
})

t.test('limits of connections and of slow bodies', async (t) => {
  const { config } = await load(t)
  t.match(config.limits, { connectionsMax: 10_000, bodyBytesPerMinuteMin: 16_384 })
  const given = await load(t, 'limits: { connections: 16, body_bytes_per_minute: 0 }')
  t.match(given.config.limits, { connectionsMax: 16, bodyBytesPerMinuteMin: 0 })
  await t.rejects(load(t, 'limits: { connections: 15 }'), { code: 'invalid_config' })
})
