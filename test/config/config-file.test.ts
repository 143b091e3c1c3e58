/**
 * All faults of a configuration are reported together, each with its place, what was expected and what to do.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { nodeProgram } from '../../scripts/build/node-program.ts'
import { examineConfig, loadConfig } from '../../src/config/load-config.ts'
import { MEMBERS_MAX } from '../../src/state-machine/members/records.ts'
import { SETTINGS } from '../../src/config/settings.ts'
import { examined, SMALLEST, reportedFaults, writeConfig } from './written-config.ts'

t.test('the faults of a configuration', async (t) => {
  t.test('are reported together, each with its line [admin.config-check]', async (t) => {
    const found = examined(
      t,
      `node: { id: N1, data_dir: data }
cluster:
  hartbeat: 100ms
  heartbeat: 100
  members: []
security: { master_key_file: key }
limits:
  chunk_buffers: 1
`,
      { HOLDFAST_LOGGING__LEVLE: 'info', HOLDFAST_AUDIT__STRICT: 'yes' },
    )
    t.equal(found.config, null)
    t.same(reportedFaults(found), [
      "1: The setting 'node.id' is wrong: 'N1' does not match ^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$",
      "3: Unknown setting 'cluster.hartbeat'",
      "4: The setting 'cluster.heartbeat' is wrong: expected a duration such as 100ms, 90s, 15m, 24h or 7d, got '100'",
      "5: The setting 'cluster.members' is wrong: expected a list of 1 to 64 members",
      "8: The setting 'limits.chunk_buffers' is wrong: expected 2 to 1024, got 1",
      ": The setting 'cluster.id' is missing",
      "HOLDFAST_AUDIT__STRICT: The setting 'audit.strict' is wrong: expected true or false, got 'yes'",
      "HOLDFAST_LOGGING__LEVLE: Unknown setting 'HOLDFAST_LOGGING__LEVLE'",
    ])
    for (const { hint } of found.faults) t.match(hint, /\w/, 'says what to do')
  })

  t.test('are all in one error that prevents the start', async (t) => {
    const file = writeConfig(t, `${SMALLEST}logging: { level: loud, levle: info }`)
    t.throws(() => loadConfig(file, {}), {
      name: 'StartError',
      code: 'invalid_config',
      message: /has 2 faults:[^]*Unknown setting 'logging\.levle'[^]*expected one of/,
      hint: /holdfast config check/,
    })
  })

  t.test('include unknown keys, with the nearest known one [admin.config-nearest]', async (t) => {
    const { faults } = examined(t, `${SMALLEST}limits: { chunk_bufers: 5 }\ncluser: { name: a }`, {
      HOLDFAST_SECURITY__MAX_PRESIGN_TLL: '1h',
    })
    t.match(faults, [
      { setting: 'limits.chunk_bufers', hint: "Did you mean 'limits.chunk_buffers'?" },
      { setting: 'cluser.name', hint: "Did you mean 'cluster'?" },
      { hint: "Did you mean 'HOLDFAST_SECURITY__MAX_PRESIGN_TTL'?" },
    ])
  })

  t.test('include settings that contradict each other', async (t) => {
    const found = examined(
      t,
      `node: { id: n2, data_dir: data }
cluster: { id: test-cluster, election_timeout: 500ms, members: [{ id: n1, peer: '127.0.0.1:9002' }] }
listeners: { admin: '127.0.0.1:9000' }
disk: { stop_placing: 99% }
security: { master_key_file: key }
`,
    )
    t.same(reportedFaults(found), [
      ': cluster.election_timeout (500 ms) is less than ten heartbeats (100 ms each)',
      ': disk.stop_placing (99%) is above disk.stop_writing (92%)',
      ': listeners.data (127.0.0.1:9000) and listeners.admin (127.0.0.1:9000) use the same port of the same address',
    ])
  })

  t.test('include a memory that is less than a node takes without requests', async (t) => {
    t.same(reportedFaults(examined(t, `${SMALLEST}limits: { memory: 63MiB }`)), [
      ': limits.memory (66060288 bytes) is less than 64MiB',
    ])
    t.same(reportedFaults(examined(t, `${SMALLEST}limits: { memory: 64MiB }`)), [])
  })

  t.test('include names that appear twice', async (t) => {
    t.same(reportedFaults(examined(t, `${SMALLEST}limits:\n  chunk_buffers: 5\n  chunk_buffers: 6`)), [
      '6: a key with this name appears twice',
    ])
    t.match(reportedFaults(examined(t, `${SMALLEST}node: { zone: a }`)), [
      '4: a key with this name appears twice',
    ])
    t.same(reportedFaults(examined(t, `${SMALLEST}node.id: n2`)), ["4: 'node.id' appears twice"])
  })

  t.test('include keys without a value, but not sections without keys', async (t) => {
    t.same(reportedFaults(examined(t, `${SMALLEST}limits:\n  # chunk_buffers: 6\naudit: {}\n`)), [])
    t.same(reportedFaults(examined(t, `${SMALLEST}limits:\n  chunk_buffers:\n`)), [
      "5: 'limits.chunk_buffers' has no value",
    ])
    t.match(reportedFaults(examined(t, `${SMALLEST}limits: 5\n`)), ["4: expected keys under 'limits:'"])
  })

  t.test('quote no secret that is in a value', async (t) => {
    const { faults } = examined(
      t,
      `${SMALLEST}notifications: { allow_origins: 'https://u:hunter2@hooks.internal/' }`,
    )
    t.equal(faults.length, 1)
    t.notMatch(JSON.stringify(faults), /hunter2/)
    t.match(faults[0]?.message, 'https://***@hooks.internal')
  })
})

t.test('a file that is not a configuration', async (t) => {
  const cases: readonly (readonly [string, string | Uint8Array, RegExp])[] = [
    ['is empty: every missing setting is reported', '', /'node\.id' is missing/],
    ['contains only comments', '# nothing\n', /'node\.id' is missing/],
    ['is broken YAML', 'node: { id: n1\n', /this is not valid YAML/],
    ['is a list', '- a\n- b\n', /expected sections/],
    ['is a text', 'hello', /expected sections/],
    ['contains two documents', `${SMALLEST}---\n${SMALLEST}`, /this is not valid YAML/],
    ['contains an unknown tag', `${SMALLEST}limits: { chunk_buffers: !five 5 }`, /this is not valid YAML/],
    ['contains aliases', 'node: &a { id: n1 }\ncluster: *a\n', /an alias/],
    ['is not UTF-8', Buffer.from([0x6e, 0xff, 0xfe]), /not UTF-8/],
    ['is larger than 1 MiB', '#'.repeat(1024 * 1024 + 1), /larger than 1 MiB/],
  ]
  for (const [what, text, says] of cases)
    t.test(what, async (t) => {
      const { config, faults } = examined(t, text)
      t.equal(config, null)
      t.match(faults[0]?.message, says)
      t.match(faults[0]?.hint, /\w/)
    })

  t.test('is a directory, a device or missing', async (t) => {
    const file = writeConfig(t, '')
    const folder = join(file, '..', 'folder')
    mkdirSync(folder)
    for (const [path, says] of [
      [folder, /found a directory/],
      ['/dev/null', /a device/],
      [`${file}.not`, /does not exist/],
    ] as const)
      t.match(examineConfig(path, {}).faults, [{ where: path, message: says }])
  })

  t.test('is not readable by this user', async (t) => {
    const file = writeConfig(t, SMALLEST)
    chmodSync(file, 0)
    chmodSync(join(file, '..'), 0o755)
    const { faults } = withoutPrivileges(() => examineConfig(file, {}))
    t.match(faults, [{ where: file, message: /no permission to read/, hint: /chmod/ }])
  })

  t.test('is a pipe: it is read', async (t) => {
    const file = writeConfig(t, SMALLEST)
    const script = 'cat "$1" | env -u NODE_OPTIONS "$2" "$3" config check --settings-only --config /dev/stdin'
    const out = execFileSync('sh', ['-c', script, 'sh', file, process.execPath, nodeProgram()], {
      encoding: 'utf8',
    })
    t.match(out, /valid configuration of node n1/)
  })
})

/** Root can read every file. */
function withoutPrivileges<T>(work: () => T): T {
  if (process.geteuid?.() !== 0) return work()
  process.seteuid?.(65_534)
  try {
    return work()
  } finally {
    process.seteuid?.(0)
  }
}

t.test('a value is the text as written, without YAML types', async (t) => {
  const { config } = examined(
    t,
    SMALLEST.replace('test-cluster', '0012345678')
      .replace('n1, data', '1e3, data')
      .replace('id: n1,', "id: '1e3',"),
  )
  t.match(config, { cluster: { id: '0012345678' }, node: { id: '1e3' } })
})

const SAMPLES: Readonly<Record<string, string>> = {
  text: 'sample-text',
  path: '/srv/sample',
  address: '127.0.0.1:4711',
  boolean: 'true',
  level: 'debug',
  members: '[{id: sample-text, peer: "127.0.0.1:9002"}]',
  networks: '10.0.0.0/24,2001:db8::7',
  roleRules: '[{group: admins, role: owner, tenant: acme, keys: false}]',
  origins: 'https://hooks.internal:8443,https://other.internal',
  ports: '443,9443',
  origin: 'https://content.example.org',
}

/** Of providers: of the master key, and of the log-in. */
const PROVIDER_SAMPLES: Readonly<Record<string, string>> = {
  'security.master_key_provider': 'vault',
  'security.vault.url': 'https://vault.example:8200',
  'security.vault.auth': 'approle',
  'security.kms.url': 'https://keys.example/v1',
  'security.pkcs11.key_id': '0a1b',
  'console.oidc.issuer': 'https://id.example.org',
  'console.oidc.scopes': 'openid groups',
}

/** A value that differs from the default and is within the bounds. */
function sampleOf(setting: (typeof SETTINGS)[number]): string {
  if (setting.name === 'listeners.public_url') return 'https://files.example.org'
  if (setting.name === 'listeners.console_data') return 'false'
  if (setting.name === 'content.compression') return 'off'
  if (setting.name === 'logging.requests') return 'all'
  if (setting.name === 'logging.format') return 'pretty'
  if (setting.name === 'metrics.prometheus_url') return 'http://prometheus.internal:9090'
  if (setting.name === 'tracing.url') return 'https://collector.example/v1/traces'
  if (setting.name.endsWith('_tls.client_certificates')) return 'required'
  if (setting.name === 'audit.export.to') return 'otlp'
  if (setting.name === 'security.second_approval') return 'lower_locks'
  if (setting.name === 'audit.export.url') return 'tls://siem.example:6514'
  const provided = PROVIDER_SAMPLES[setting.name]
  if (provided !== undefined) return provided
  if (setting.kind === 'percent') return '94%'
  const sample = SAMPLES[setting.kind]
  if (sample !== undefined) return sample
  const min = 'min' in setting ? setting.min : 0
  return setting.kind === 'duration' ? `${min + 1}ms` : String(min + 1)
}

t.test(
  'every setting can be given by the environment, which takes precedence over the file [admin.config-environment]',
  async (t) => {
    const check = (t: Test, setting: (typeof SETTINGS)[number]): void => {
      const variable = `HOLDFAST_${setting.name.toUpperCase().replaceAll('.', '__')}`
      const { written, values, faults } = examined(t, SMALLEST, { [variable]: sampleOf(setting) })
      t.same(
        faults.filter((fault) => fault.where.includes(variable) || fault.setting === setting.name),
        [],
        setting.name,
      )
      t.match(written.get(setting.name)?.origin, {
        kind: 'environment',
        where: `environment variable ${variable}`,
      })
      t.not(
        JSON.stringify(values.get(setting.name)),
        JSON.stringify(examined(t, SMALLEST).values.get(setting.name)),
      )
    }
    for (const setting of SETTINGS) check(t, setting)

    await t.test('and a value that is not a list is refused with the name of its variable', async (t) => {
      const found = examined(t, SMALLEST, { HOLDFAST_CLUSTER__MEMBERS: '[{id: n1' })
      t.match(found.faults, [{ where: /HOLDFAST_CLUSTER__MEMBERS/, message: /not valid YAML/ }])
    })
    await t.test('and a variable with a single underscore is ignored', async (t) => {
      t.same(examined(t, SMALLEST, { HOLDFAST_HOME: '/x', HOLDFAST_ADMIN_TOKEN: 'x' }).faults, [])
    })
  },
)

t.test('a new cluster has at most 64 members', (t) => {
  const list = (count: number): string =>
    Array.from({ length: count }, (_, n) => `    - { id: n${n}, peer: "127.0.0.1:${20_000 + n}" }`).join('\n')
  const config = (count: number) => `
node: { id: n0, data_dir: data }
cluster:
  id: test-cluster
  members:
${list(count)}
listeners: { data: 127.0.0.1:9000, admin: 127.0.0.1:9001, peer: 127.0.0.1:9002 }
security: { master_key_file: master.key }
`
  t.same(reportedFaults(examined(t, config(MEMBERS_MAX))), [])
  t.match(reportedFaults(examined(t, config(MEMBERS_MAX + 1))), [
    /expected a list of 1 to 64 members, got 65/,
  ])
  t.end()
})
