/**
 * Set-ups with one fault each, and the doctor as a real program: each fault is named, with its remedy.
 */
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { encodeHeader } from '../../cluster/transport/frame.ts'
import { MasterKey } from '../../src/access/master-key.ts'
import { writeMarker } from '../../src/store/state/marker-file.ts'
import { SEALED_STATE_FORMAT } from '../../src/store/state/state-directory.ts'
import { canMount, DoctorSetups, type Sections, type DoctorRun } from '../helpers/doctor-setups.ts'
import { MadeCertificates } from '../transport/made-certificates.ts'
import { opensslVersion, TestAuthority } from '../transport/test-certificates.ts'

/** There is exactly one finding, of this check, with a remedy. */
function names(t: Test, run: DoctorRun, check: string, ...says: readonly RegExp[]): void {
  const { findings, status } = run.examination
  const errors = findings.filter(({ severity }) => severity === 'error')
  t.same([...new Set(errors.map((each) => each.check))], [check])
  t.equal(run.exitCode, 1)
  t.equal(status, 'error')
  const text = JSON.stringify(run.troubles(check))
  for (const each of says) t.match(text, each)
  for (const { found, expected, action } of errors) t.ok(found && expected && action, 'names the remedy')
}

/** A member that does not belong to the cluster, at the address of `answer`. */
const withPeer = (address: string) => (config: Sections) => {
  const members = config['cluster']?.['members'] as object[]
  config['cluster'] = { ...config['cluster'], members: [...members, { id: 'n2', peer: address }] }
}

/** Answers like a node that would accept this one, at another time of day. */
async function peerWithClock(t: Test, aheadMs: number): Promise<string> {
  const server = createServer((_, response) => {
    response.setHeader('date', new Date(Date.now() + aheadMs).toUTCString())
    response
      .writeHead(400)
      .end(encodeHeader({ code: 'malformed_request', message: 'The incarnation is missing' }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Names, modes and bytes of all files. */
function pictureOf(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .toSorted()
    .map((name) => {
      const stat = statSync(join(folder, name))
      const bytes = stat.isFile() ? readFileSync(join(folder, name)).toString('base64') : ''
      return `${name} ${stat.mode} ${stat.mtimeMs} ${bytes}`
    })
}

t.test('holdfast doctor', { timeout: 1_800_000 }, async (t) => {
  const setups = await DoctorSetups.open(t)

  await t.test(
    'finds nothing wrong with a stopped node, and changes nothing [admin.doctor-clean]',
    async (t) => {
      const before = pictureOf(join(setups.folder, 'data'))
      const { exitCode, examination } = await setups.runDoctor(setups.configure())
      t.same(
        examination.findings.filter(({ severity }) => severity === 'error'),
        [],
      )
      t.equal(exitCode, 0)
      t.match(examination, {
        node: 'stopped',
        nodeId: 'n1',
        notChecked: ['clock', 'audit_log', 'backups'],
      })
      t.same(pictureOf(join(setups.folder, 'data')), before)
    },
  )

  await t.test('data directory that others may write to [admin.doctor-data-dir]', async (t) => {
    const name = setups.copyData()
    chmodSync(join(setups.folder, name), 0o777)
    const config = setups.configure((each) => {
      each['node'] = { ...each['node'], data_dir: name }
      each['notifications'] = { allow_origins: ['https://hooks.internal'] }
    })
    const run = await setups.runDoctor(config)
    names(t, run, 'data_dir', /mode 777/, /chmod 700/)
    t.match(run.troubles('webhook_targets'), [{ severity: 'warning', found: /to every tenant/ }])
  })

  await t.test('master key file that others may read [admin.doctor-key-file]', async (t) => {
    const file = join(setups.folder, 'exposed.key')
    await MasterKey.create(file)
    chmodSync(file, 0o644)
    const config = setups.configure((each) => {
      each['security'] = { master_key_file: file }
      each['node'] = { ...each['node'], data_dir: 'empty' }
    })
    const run = await setups.runDoctor(config)
    names(t, run, 'master_key_file', /master_key_exposed/, /chmod 600/)
    t.notMatch(JSON.stringify(run.examination), readFileSync(file, 'utf8').trim().split(':')[2])
  })

  await t.test(
    'full disk [admin.doctor-disk-full]',
    { skip: canMount() ? false : 'needs user namespaces' },
    async (t) => {
      mkdirSync(join(setups.folder, 'small'), { mode: 0o700 })
      const config = setups.configure((each) => (each['node'] = { ...each['node'], data_dir: 'small' }))
      const script =
        'mount -t tmpfs -o size=4m,mode=700 none "$1" && head -c 3900000 /dev/zero > "$1/filler"; shift; exec "$@"'
      const run = await setups.runDoctor(config, [
        'unshare',
        '-rm',
        'sh',
        '-c',
        script,
        'sh',
        join(setups.folder, 'small'),
      ])
      names(t, run, 'disk_space', /disk.stop_writing \(92%\)/, /full-blob-disk/)
      t.match(run.troubles('filesystem'), [{ severity: 'warning', found: /tmpfs: it is memory/ }])
    },
  )

  await t.test('directories of blobs that share a disk, and one whose disk is not mounted', async (t) => {
    const node = { id: 'n1', data_dir: 'data', blob_directories: ['data/blobs', 'absent'] }
    const run = await setups.runDoctor(setups.configure((each) => (each['node'] = node)))
    t.match(run.troubles('blob_directories'), [
      { severity: 'warning', found: /blobs and .*data are on one file system/ },
      { severity: 'error', found: /absent does not exist/ },
    ])
  })

  await t.test('data of another cluster [admin.doctor-foreign-cluster]', async (t) => {
    const config = setups.configure(
      (each) => (each['cluster'] = { ...each['cluster'], id: 'another-cluster' }),
    )
    names(
      t,
      await setups.runDoctor(config),
      'identity',
      /belongs to cluster cluster-of-one \(foreign_cluster\)/,
    )
  })

  await t.test('master key that is not the one of the data [admin.doctor-master-key]', async (t) => {
    await MasterKey.create(join(setups.folder, 'other.key'))
    const config = setups.configure((each) => (each['security'] = { master_key_file: 'other.key' }))
    names(
      t,
      await setups.runDoctor(config),
      'master_key',
      /wrong_fingerprint/,
      /Copy the key file of the cluster/,
    )
  })

  await t.test('clock that is an hour off [admin.doctor-clock]', async (t) => {
    const ahead = await peerWithClock(t, 3_600_000)
    names(
      t,
      await setups.runDoctor(setups.configure(withPeer(ahead))),
      'clock',
      /n2 is 3\d\d\d(\.\d)? s ahead/,
      /NTP/,
    )
  })

  await t.test('peer that does not answer [admin.doctor-peer]', async (t) => {
    const silent = setups.configure(withPeer(setups.address(5)))
    names(t, await setups.runDoctor(silent), 'peers', /ECONNREFUSED/, /Start that node/)
    const server = createServer((_, response) => response.end('It works'))
    await new Promise<void>((resolve) => server.listen(setups.basePort + 6, '127.0.0.1', resolve))
    t.teardown(() => server.close())
    const foreign = setups.configure(withPeer(setups.address(6)))
    names(t, await setups.runDoctor(foreign), 'peers', /not a holdfast node/)
  })

  const skip = opensslVersion() === null ? 'the openssl command is needed to make certificates' : false
  await t.test('certificate that has expired [admin.doctor-certificate]', { skip }, async (t) => {
    const authority = new TestAuthority(t, 'cluster')
    const withTls = (files: object) => setups.configure((each) => (each['peer_tls'] = { ...files }))
    const expired = await setups.runDoctor(withTls(authority.issue({ commonName: 'n1', days: -1 })))
    names(t, expired, 'peer_tls', /peer_tls\.cert .* expired at/)
    const soon = await setups.runDoctor(withTls(authority.issue({ commonName: 'n1', days: 20 })))
    t.match(soon.troubles('peer_tls').at(-1), {
      severity: 'warning',
      found: /peer_tls\.cert .* expires in (19|20) days/,
    })
    t.equal(soon.exitCode, 0)
  })

  await t.test('authorities of clients that are missing', async (t) => {
    const { cert, key } = new MadeCertificates(t).issue('n1')
    const run = await setups.runDoctor(
      setups.configure((each) => (each['data_tls'] = { cert, key, client_ca: 'gone.pem' })),
    )
    names(t, run, 'listener_tls', /data_tls\.client_ca .* cannot be used: ENOENT/)
  })

  await t.test('port in use by another program [admin.doctor-port]', async (t) => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(setups.basePort + 1, '127.0.0.1', resolve))
    const run = await setups.runDoctor(setups.configure())
    await new Promise((resolve) => server.close(resolve))
    names(t, run, 'listeners', /listeners\.admin .* in use by another program/, /ss -ltnp/)
  })

  await t.test('state of a newer build [admin.doctor-version]', async (t) => {
    const name = setups.copyData()
    await writeMarker(join(setups.folder, name, 'state'), 'CURRENT', {
      format: SEALED_STATE_FORMAT + 1,
      state: 'state-1',
    })
    const config = setups.configure((each) => (each['node'] = { ...each['node'], data_dir: name }))
    names(
      t,
      await setups.runDoctor(config),
      'state_format',
      new RegExp(`format ${SEALED_STATE_FORMAT + 1}, of a newer build`),
      /newer build that wrote it/,
    )
  })

  await t.test('configuration that cannot be understood [admin.doctor-configuration]', async (t) => {
    const run = await setups.runDoctor(setups.write('node: { id: n1\ncluster: [\n\u0000'))
    names(t, run, 'configuration', /this is not valid YAML/)
    t.equal(run.examination.node, 'unknown')
    t.ok(run.examination.notChecked.includes('data_dir'))
  })

  await t.test('a running node is contacted, and not disturbed [admin.doctor-running]', async (t) => {
    const config = setups.configure()
    const node = await setups.run(t, config)
    const run = await setups.runDoctor(config)
    t.same(
      run.examination.findings.filter(({ severity }) => severity === 'error'),
      [],
      'its own ports are no fault',
    )
    t.equal(run.examination.findings.filter(({ found }) => /in use by this node/.test(found)).length, 3)
    t.match(run.examination.findings, [{}, {}, { check: 'node', found: /runs and is ready/ }])
    t.match(
      run.examination.findings.find(({ check }) => check === 'audit_log'),
      { severity: 'ok', found: /^0 segments with 0 bytes; \d+ links in rows/ },
    )
    const other = setups.configure((each) => (each['security'] = { master_key_file: 'other.key' }))
    t.match((await setups.runDoctor(other)).troubles('master_key').at(-1), { found: /wrong_master_key/ })

    node.signal('SIGSTOP')
    const silent = await setups.runDoctor(config)
    names(t, silent, 'node', new RegExp(`process ${node.pid} holds the data directory and does not answer`))
    t.ok(silent.examination.notChecked.includes('listeners'))
    node.signal('SIGCONT')
    await node.stop()
    t.equal((await setups.runDoctor(config)).examination.node, 'stopped')
  })
})
