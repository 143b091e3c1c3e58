/**
 * The deployment files fit each other, the code and the tree: read and compared, without podman or docker.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { loadConfig } from '../../src/config/load-config.ts'
import { plainListeners } from '../../src/config/plain-listeners.ts'
import type { Config } from '../../src/config/types.ts'
import { runCommand } from '../helpers/run-command.ts'
import * as files from './files.ts'
import { compose, instructions, mountsOf, NODES, read, ROOT, service } from './files.ts'

const SCRIPTS = [
  'deploy/smoke.sh',
  'deploy/up-with-podman.sh',
  'deploy/podman/base-image.sh',
  'deploy/podman/remove-firewall-chains.sh',
]

/** What the init service makes, without the change of owner, which needs root. */
const SECRETS = mkdtempSync(join(tmpdir(), 'holdfast-deploy-'))
t.teardown(() => rmSync(SECRETS, { recursive: true, force: true }))

/** The configuration of a node as its container sees it. */
function configOf(node: string): Config {
  const variables = Object.entries(service(node).environment ?? {})
  const filledIn = variables.map(([name, text]) => [name, files.fillIn(text)])
  return loadConfig(join(SECRETS, node, 'node.yaml'), Object.fromEntries(filledIn))
}

t.before(async () => {
  const [program, ...args] = service('init').command ?? []
  if (program !== 'holdfast') throw new Error('the init service does not run the command line')
  const here = args
    .filter((arg) => !arg.startsWith('--owner='))
    .map((arg) => (arg === '--dir=/cluster' ? `--dir=${SECRETS}` : arg))
  const { code, err } = await runCommand(...here)
  if (code !== 0) throw new Error(err)
})

const portOf = (address: string): string => address.split(':').at(-1) ?? ''

const tracked = (...folders: readonly string[]): readonly string[] =>
  execFileSync('git', ['ls-files', ...folders], { cwd: ROOT, encoding: 'utf8' })
    .split('\n')
    .filter((path) => path !== '' && files.exists(path))

t.test('docker-compose.cluster.yml', async (t) => {
  t.test('runs three nodes, Prometheus and, if wanted, Grafana, each with volumes of its own', async (t) => {
    t.same(Object.keys(compose.services), ['init', ...NODES, 'prometheus', 'grafana'])
    const optional = Object.entries(compose.services).filter(([, { profiles }]) => profiles !== undefined)
    t.same(
      optional.map(([name]) => name),
      ['grafana'],
    )
    const named = Object.keys(compose.services)
      .flatMap((name) => mountsOf(name))
      .map(({ source }) => source)
      .filter((source) => !source.startsWith('.'))
    t.equal(new Set(named).size, named.length, 'no volume is used twice')
    t.same([...named].sort(), Object.keys(compose.volumes).sort(), 'all are declared, and no others')
  })

  t.test('publishes ports on loopback only, no two the same', async (t) => {
    const published = Object.values(compose.services).flatMap(({ ports = [] }) =>
      ports.map((port) => files.fillIn(port)),
    )
    for (const port of published) t.match(port, /^127\.0\.0\.1:\d+:\d+$/)
    t.equal(new Set(published.map((port) => port.split(':')[1])).size, published.length)
  })

  t.test('mounts only files that exist or that the init service makes, all read-only', async (t) => {
    for (const name of Object.keys(compose.services).filter((other) => other !== 'init')) {
      for (const { source, target, isReadOnly } of mountsOf(name)) {
        if (!source.startsWith('.')) continue
        t.ok(isReadOnly, `${name}: ${target}`)
        if (source === `./deploy/secrets/${name}`) continue
        t.ok(files.exists(source), `${name}: ${source}`)
        t.equal(
          statSync(files.inRoot(source)).mode & 0o004,
          0o004,
          `${source} can be read by the container's user`,
        )
      }
    }
  })

  t.test('starts a node when the init service has ended, on the folder that is made for it', async (t) => {
    t.same(mountsOf('init'), [{ source: './deploy/secrets', target: '/cluster', isReadOnly: false }])
    t.same(service('init').cap_add, ['CHOWN', 'DAC_OVERRIDE', 'FOWNER'])
    t.match(service('init').command, ['holdfast', 'config', 'create', '--once'])
    t.notOk(service('init').ports)
    for (const node of NODES)
      t.same(service(node).depends_on, { init: { condition: 'service_completed_successfully' } })
  })

  t.test('gives every node its own secrets and no rights', async (t) => {
    for (const node of NODES) {
      const { hostname, read_only, cap_drop, security_opt, privileged, user } = service(node)
      const secrets = mountsOf(node).filter(({ source }) => source.includes('secrets'))
      t.same(secrets, [{ source: `./deploy/secrets/${node}`, target: '/etc/holdfast', isReadOnly: true }])
      t.match({ hostname, read_only, cap_drop }, { hostname: node, read_only: true, cap_drop: ['ALL'] })
      t.same([security_opt, privileged, user], [['no-new-privileges:true'], undefined, undefined])
    }
    for (const other of ['prometheus', 'grafana'])
      t.ok(mountsOf(other).every(({ source }) => !source.includes('secrets')))
  })

  t.test('waits longer for a node to stop than the node needs', async (t) => {
    const stopMs = /STOP_MS_MAX = ([\d_]+)/
      .exec(read('src/cli/local/server-command.ts'))?.[1]
      ?.replaceAll('_', '')
    for (const node of NODES) {
      t.ok(Number.parseInt(service(node).stop_grace_period ?? '', 10) * 1000 > Number(stopMs), node)
    }
  })
})

t.test('the configurations that the init service makes', async (t) => {
  t.test('are accepted by every node with the environment of the compose file', async (t) => {
    for (const node of NODES) {
      const config = configOf(node)
      t.equal(config.node.id, node)
      t.equal(new Set(config.cluster.members.map(({ zone }) => zone)).size, NODES.length, 'a zone each')
      t.same(
        config.cluster.members.map(({ nodeId, peerAddress }) => [nodeId, peerAddress]),
        NODES.map((id) => [id, `${id}:${portOf(config.listeners.peer)}`]),
        'the members are the services, by their names in the network',
      )
    }
  })

  t.test('say that plain HTTP is meant, so that a start does not refuse it', async (t) => {
    t.same(
      plainListeners(configOf('n1')).map(({ listener, isAllowed }) => [listener, isAllowed]),
      [
        ['data', true],
        ['admin', true],
      ],
    )
  })

  t.test('name only paths that the compose file mounts', async (t) => {
    const config = configOf('n1')
    t.ok(mountsOf('n1').some(({ target }) => target === config.node.dataDir))
    const { ca, cert, key } = config.peerTls ?? { ca: '', cert: '', key: '' }
    for (const path of [ca, cert, key, config.security.masterKeyFile])
      t.equal(dirname(path), join(SECRETS, 'n1'), path)
  })

  t.test('listen on the ports that are published, probed and scraped', async (t) => {
    const { data, admin, peer } = configOf('n1').listeners
    t.same(instructions('EXPOSE'), [[data, admin, peer].map(portOf).join(' ')])
    for (const node of NODES) {
      const inside = (service(node).ports ?? []).map((port) => portOf(files.fillIn(port)))
      t.same(inside, [portOf(data), portOf(admin)], 'the peer port is published nowhere')
      const { HOLDFAST_PROBE_URL: probed, HOLDFAST_ADMIN_ENDPOINT: asked } = service(node).environment ?? {}
      t.same(
        [probed, asked],
        [`http://127.0.0.1:${portOf(admin)}/readyz`, `http://127.0.0.1:${portOf(admin)}`],
      )
    }
    const { scrape_configs } = parse(read('deploy/prometheus/prometheus.yml'))
    t.same(
      scrape_configs[0].static_configs[0].targets,
      NODES.map((node) => `${node}:${portOf(admin)}`),
    )
    t.equal(
      configOf('n1').metrics.public,
      scrape_configs[0].authorization === undefined,
      'no token is needed',
    )
  })
})

t.test('deploy/Dockerfile', async (t) => {
  t.test('is based on the Node version of the project', async (t) => {
    const { devDependencies } = JSON.parse(read('package.json'))
    const [base = '', ...others] = instructions('FROM').map((rest) => rest.split(' ')[0] ?? '')
    t.same(others, ['scratch'], 'nothing of the base but what is copied')
    t.equal(/\/node:(\d+)-/.exec(base)?.[1], devDependencies.node.split('.')[0], base)
    t.match(read('deploy/podman/base-image.sh'), `readonly IMAGE=${base}\n`)
  })

  t.test('copies only what exists and .dockerignore lets in', async (t) => {
    const sources = instructions('COPY')
      .filter((rest) => !rest.startsWith('--from'))
      .flatMap((rest) => rest.split(' ').slice(0, -1))
    t.ok(sources.includes('src') && sources.includes('cluster'))
    for (const source of sources) t.ok(files.exists(source) && files.isLetIn(source), source)
    for (const path of tracked('src', 'cluster')) t.ok(files.isLetIn(path), path)
  })

  t.test('runs as a user without rights, who owns the data and the secrets', async (t) => {
    const [user = ''] = instructions('USER')
    t.match(user, /^[1-9]\d*:[1-9]\d*$/)
    t.ok(service('init').command?.includes(`--owner=${user}`))
    t.match(read('scripts/build/image.ts'), `holdfast:x:${user}:`)
    const { dataDir } = configOf('n1').node
    t.same(instructions('VOLUME'), [dataDir])
    t.ok(instructions('COPY').includes(`--from=build --chown=${user} /image/data ${dirname(dataDir)}`))
    t.equal(files.dockerfile.filter(({ word }) => word === 'FROM' || word === 'USER').at(-1)?.word, 'USER')
  })

  t.test('starts the service itself with the mounted configuration, and probes liveness', async (t) => {
    const [command] = instructions('CMD')
    const words: string[] = JSON.parse(command ?? '')
    const started = [
      'node',
      '--max-semi-space-size=8',
      '/opt/holdfast/dist/bundle/main.js',
      'server',
      '--config',
    ]
    t.same(words.slice(0, 5), started, 'Node is process 1')
    t.equal(words.at(-1), join(mountsOf('n1')[1]?.target ?? '', 'node.yaml'))
    t.match(instructions('HEALTHCHECK')[0], '/opt/holdfast/probe.mjs')
    t.match(
      instructions('ENV').find((rest) => rest.startsWith('HOLDFAST_PROBE_URL=')),
      '/healthz',
    )
  })
})

t.test('secrets and data', async (t) => {
  const secret = ['deploy/secrets/ca/master.key', 'deploy/secrets/n1/node.key', 'deploy/secrets/ca/ca.key']
  t.test('never enter git', async (t) => {
    for (const path of [...secret, 'data/n1/raft/x']) {
      t.equal(spawnSync('git', ['check-ignore', '--quiet', path], { cwd: ROOT }).status, 0, path)
    }
    t.same(
      tracked('deploy').filter((path) => /\.(key|crt|pem|env)$/.test(path)),
      [],
    )
  })

  t.test('never enter the build, nor does anything else that it does not need', async (t) => {
    const outside = [
      'data/master.key',
      '.git/config',
      'node_modules/level/index.js',
      'dist/bundle/main.js',
      'test/x.ts',
    ]
    for (const path of [...secret, ...outside]) t.notOk(files.isLetIn(path), path)
  })
})

t.test('the scripts', async (t) => {
  t.test('are valid bash, stop at the first error and can be called', async (t) => {
    t.same(
      tracked('deploy').filter((path) => path.endsWith('.sh')),
      [...SCRIPTS].sort(),
    )
    for (const script of SCRIPTS) {
      const { status, stderr } = spawnSync('bash', ['-n', join(ROOT, script)], { encoding: 'utf8' })
      t.same([status, stderr], [0, ''], script)
      t.match(read(script), /^#!\/usr\/bin\/env bash\n[\s\S]*\nset -euo pipefail\n/, script)
    }
    for (const script of SCRIPTS.slice(0, 2))
      t.ok(statSync(join(ROOT, script)).mode & 0o100, `${script} is executable`)
  })

  t.test('name the images and ports of the compose file', async (t) => {
    const podman = read('deploy/up-with-podman.sh')
    t.match(podman, `PROMETHEUS_IMAGE=${service('prometheus').image}\n`)
    t.match(podman, `-t ${service('n1').image} `)
    const variables = [...read('docker-compose.cluster.yml').matchAll(/\$\{(\w+):-/g)].map(
      (match) => match[1] ?? '',
    )
    t.equal(new Set(variables).size, 9)
    // No Grafana comes without a registry.
    for (const variable of variables.filter((name) => name !== 'GRAFANA_PORT'))
      t.match(podman, new RegExp(`\\b${variable}=\\$`), variable)
  })

  t.test('explain themselves and refuse what they do not know', async (t) => {
    const podman = join(ROOT, 'deploy/up-with-podman.sh')
    const help = spawnSync('bash', [podman, '--help'], { encoding: 'utf8' })
    t.match([help.status, help.stdout], [0, /^Usage: /])
    const wrong = spawnSync('bash', [podman, '--nonsense'], { encoding: 'utf8' })
    t.match([wrong.status, wrong.stderr], [2, "unknown option '--nonsense'"])
    const smoke = spawnSync('bash', [join(ROOT, 'deploy/smoke.sh')], { encoding: 'utf8' })
    t.match([smoke.status, smoke.stderr], [2, /^Usage: /])
  })

  t.test('name the step that takes too long, how long it waited and what to look at', async (t) => {
    const [functions = ''] = /^fail\(\) \{[\s\S]*?^took\(\) .*$/m.exec(read('deploy/up-with-podman.sh')) ?? []
    const run = (what: string) =>
      spawnSync('bash', ['-c', `set -eu\n${functions}\nstep 'start n1' 1 'podman logs n1'\n${what}`], {
        encoding: 'utf8',
      })
    const late = run('bounded tail --follow /dev/null')
    t.match([late.status, late.stdout], [1, '== start n1\n'])
    t.match(late.stderr, /step 'start n1' timed out after \d+ s \(limit 1 s\)\. Look at: podman logs n1/)
    t.match(
      run("until false; do in_time || timed_out 'not ready'; done").stderr,
      /limit 1 s\): not ready\. Look/,
    )
    t.match(run('bounded false').status, 1, 'a failure is no timeout')
    t.equal(run('bounded false').stderr, '')
  })
})

t.test('deploy/grafana/provisioning', async (t) => {
  const [datasource] = parse(read('deploy/grafana/provisioning/datasources/prometheus.yaml')).datasources
  t.match(datasource, { type: 'prometheus', url: 'http://prometheus:9090', isDefault: true })
  const [provider] = parse(read('deploy/grafana/provisioning/dashboards/holdfast.yaml')).providers
  const mounted = mountsOf('grafana').find(({ source }) => source === './deploy/grafana/holdfast.json')
  t.equal(dirname(mounted?.target ?? ''), provider.options.path)
  t.equal(service('grafana').environment?.['GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH'], mounted?.target)
})
