/**
 * The supply chain: licences, bill of materials, the answer of the registry to an audit, and the unit that runs a node.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { auditVerdict } from '../../scripts/supply-chain/audit.ts'
import { isAllowed, licenceFindings } from '../../scripts/supply-chain/licences.ts'
import { type LockedPackage, readLockedProject } from '../../scripts/supply-chain/lockfile.ts'
import { billOfMaterials } from '../../scripts/supply-chain/sbom.ts'

const project = readLockedProject()
const UNIT = readFileSync(new URL('../../deploy/holdfast.service', import.meta.url), 'utf8')
const some: LockedPackage = {
  path: 'node_modules/some',
  name: 'some',
  version: '1.0.0',
  license: 'MIT',
  integrity: null,
  isDev: false,
  isInstalled: false,
  dependsOn: [],
}

t.test('every package of the lockfile has a licence of the list', async (t) => {
  t.same(licenceFindings(project.packages), [])
})

t.test('a licence that is not on the list is a finding', async (t) => {
  t.match(licenceFindings([{ ...some, license: 'GPL-3.0-only' }]), [
    /some@1\.0\.0 has the licence GPL-3\.0-only/,
  ])
  t.match(licenceFindings([{ ...some, license: null }]), [/does not say its licence/])
  t.same(licenceFindings([{ ...some, license: 'CC-BY-3.0', isDev: true }]), [])
  t.equal(licenceFindings([{ ...some, license: 'CC-BY-3.0' }]).length, 1, 'but not in a node')
  const allowed = new Set(['MIT', 'ISC'])
  for (const [expression, isGood] of [
    ['(MIT OR GPL-3.0-only)', true],
    ['MIT AND GPL-3.0-only', false],
    ['GPL-3.0-only OR MIT AND ISC', true],
    ['(MIT AND (GPL-3.0-only OR ISC))', false],
  ] as const)
    t.equal(isAllowed(expression, allowed), isGood, expression)
})

t.test('the bill of materials', async (t) => {
  const bom = billOfMaterials(project)

  await t.test('names each package of the lockfile once, with its digest', async (t) => {
    const refs = bom.components.map((component) => component['bom-ref'])
    t.equal(new Set(refs).size, refs.length)
    const locked = new Set(project.packages.map(({ name, version }) => `${name}@${version}`))
    t.same(new Set(bom.components.map(({ name, version }) => `${name}@${version}`)), locked)
    for (const { purl, hashes } of bom.components) {
      if (!/^pkg:npm\/(%40[a-z0-9._-]+\/)?[a-z0-9._-]+@[0-9]\S*$/i.test(purl)) t.fail(purl)
      for (const { alg, content } of hashes ?? [])
        if (alg === 'SHA-512' && !/^[0-9a-f]{128}$/.test(content)) t.fail(`${purl} ${content}`)
    }
  })

  await t.test('requires what a node loads, and excludes what only work on the project needs', async (t) => {
    const scopeOf = (name: string) => bom.components.find((component) => component.name === name)?.scope
    t.equal(scopeOf('fastify'), 'required')
    t.equal(scopeOf('typescript'), 'excluded')
  })

  await t.test('has an edge for each dependency, and none that leads nowhere', async (t) => {
    const known = new Set([
      bom.metadata.component['bom-ref'],
      ...bom.components.map((item) => item['bom-ref']),
    ])
    t.equal(bom.dependencies.length, known.size)
    for (const { ref, dependsOn } of bom.dependencies)
      for (const target of [ref, ...dependsOn]) if (!known.has(target)) t.fail(target)
    const [root] = bom.dependencies.filter(({ ref }) => ref === bom.metadata.component['bom-ref'])
    t.ok(root?.dependsOn.some((ref) => ref.startsWith('pkg:npm/fastify@')))
  })

  await t.test('is the same bytes each time', async (t) => {
    t.equal(JSON.stringify(billOfMaterials(readLockedProject())), JSON.stringify(bom))
    const file = fileURLToPath(new URL('../../scripts/supply-chain/sbom.ts', import.meta.url))
    const { stdout } = spawnSync(process.execPath, [file], { encoding: 'utf8' })
    t.equal(stdout, `${JSON.stringify(bom, null, 2)}\n`)
  })
})

t.test('an audit', async (t) => {
  t.match(auditVerdict('{"metadata":{"vulnerabilities":{"total":0}}}'), { exitCode: 0 })
  const found = {
    vulnerabilities: { bad: { severity: 'high', range: '<2' } },
    metadata: { vulnerabilities: { total: 1 } },
  }
  t.match(auditVerdict(JSON.stringify(found)), { exitCode: 1, text: /high: bad <2/ })
  for (const silent of [
    '',
    'null',
    '{}',
    '{"error":{"code":"ENOTFOUND","summary":""}}',
    '{"message":"request failed"}',
  ])
    t.match(auditVerdict(silent), { exitCode: 2, text: /No audit was made/ }, 'no answer is not a good one')
})

t.test('the unit for systemd is accepted, and exposes little', async (t) => {
  const has = spawnSync('systemd-analyze', ['--version'])
  const skip = has.status === 0 ? false : 'systemd-analyze is not installed'
  await t.test('by systemd-analyze', { skip }, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-unit-'))
    t.teardown(() => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, 'holdfast.service')
    // The program is not installed on the machine that runs the test.
    writeFileSync(file, UNIT.replace('ExecStart=/usr/lib/holdfast/bin/node', `ExecStart=${process.execPath}`))
    const verified = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' })
    const said = verified.stderr.split('\n').filter((line) => line.includes('holdfast.service'))
    t.same(said, [])
    const security = ['security', '--offline=yes', '--threshold=20', file]
    const judged = spawnSync('systemd-analyze', security, { encoding: 'utf8' })
    t.equal(judged.status, 0, judged.stdout.slice(-200))
    t.match(judged.stdout, /Overall exposure level for holdfast\.service: [01]\.\d/)
  })
})

t.test('the unit for systemd starts no program that a minimal Debian has not', async (t) => {
  const programs = [...UNIT.matchAll(/^Exec\w+=(\S+)/gm)].map(([, program]) => program)
  t.same(programs, ['/usr/lib/holdfast/bin/node', '/bin/sh'], '/bin/kill is of procps')
})

t.test('the unit for systemd keeps a node to its own folder', async (t) => {
  for (const line of [
    'UMask=0077',
    'StateDirectoryMode=0700',
    'NoNewPrivileges=yes',
    'ProtectSystem=strict',
    'ProtectHome=yes',
    'PrivateTmp=yes',
    'LimitCORE=0',
    'MemorySwapMax=0',
    'CapabilityBoundingSet=',
  ])
    t.ok(UNIT.split('\n').includes(line), line)
})
