/**
 * The deployment files against real nodes: the alert rules use metrics that are served, the smoke test
 * passes, the probe is right.
 */
import { spawn } from 'node:child_process'
import t from 'tap'
import { parse } from 'yaml'
import { partGauges } from '../../cluster/blobs/replication/blob-metrics.ts'
import { drainSamples } from '../../cluster/repair/disk-drain.ts'
import { evenOutSamples } from '../../cluster/repair/even-out-disks.ts'
import { checkSamples } from '../../src/workers/backup-verifying.ts'
import { Prometheus } from '../../src/telemetry/history/prometheus.ts'
import { SERIES, type SeriesName } from '../../src/telemetry/history/series.ts'
import { certificateSamples } from '../../cluster/transport/certificate-samples.ts'
import { until } from '../helpers/async.ts'
import { ProcessCluster, temporaryFolder } from '../helpers/process-cluster.ts'
import { type CollectedSpan, TraceCollector } from '../helpers/trace-collector.ts'
import { alertRules, groupingLabels, recordingRules, served, TARGET_LABELS, wantedBy } from './alerts.ts'
import { CHARTS, DASHBOARD } from './dashboard.ts'
import { PROMETHEUS, startPrometheus } from './prometheus.ts'
import { hasCommand, inRoot, read } from './files.ts'

/** promtool alone takes eight seconds of processor time. */
const SPAWN_MS_MAX = 600_000
const EXPORTING = 'audit:\n  export:\n    to: otlp\n    url: http://127.0.0.1:9/v1/logs\n'
const PROMTOOL = 'promtool'
const CASES = ['alerts', 'caller-alerts', 'latency'].map((name) => `test/deploy/${name}.promtool.yml`)

const withPromtool = hasCommand(PROMTOOL, '--version') ? false : 'promtool is not installed'
const withPrometheus = hasCommand(PROMETHEUS, '--version') ? false : 'prometheus is not installed'
const withCurl = ['bash', 'curl', 'sha256sum'].every((name) => hasCommand(name, '--version'))
  ? false
  : 'bash, curl and sha256sum are needed'

async function run(
  command: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
) {
  const child = spawn(command, args, {
    env: { ...process.env, NODE_OPTIONS: '', ...environment },
    timeout: SPAWN_MS_MAX,
  })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (text) => (stdout += text))
  child.stderr.on('data', (text) => (stderr += text))
  const code = await new Promise((resolve) => child.once('close', resolve))
  return { code, stdout, stderr }
}

const probe = (...args: readonly string[]) => run(process.execPath, [inRoot('deploy/probe.mjs'), ...args])

t.test('alerts.yml', async (t) => {
  const rules = alertRules()

  t.test('states severity, fault and remedy for every rule', async (t) => {
    t.ok(rules.length > 10)
    t.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length, 'names are unique')
    for (const { alert, labels, annotations } of rules) {
      t.match(alert, /^Holdfast[A-Z]\w+$/)
      t.match(labels.severity, /^(critical|warning)$/, alert)
      t.match(annotations, { summary: /\w/, description: /\w.*\.$/ }, alert)
      for (const [name] of annotations.description.matchAll(/\bHoldfast[A-Z]\w+/g)) {
        t.ok(
          rules.some((rule) => rule.alert === name),
          `${alert} points to ${name}`,
        )
      }
    }
  })

  t.test('is loaded by prometheus.yml', async (t) => {
    t.same(parse(read('deploy/prometheus/prometheus.yml')).rule_files, ['alerts.yml', 'recording.yml'])
  })

  t.test('has a case for each rule in which it fires', async (t) => {
    const cases = CASES.map(read).join('')
    for (const { alert } of rules) t.match(cases, `{alertname="${alert}"`, alert)
  })

  t.test('is what promtool accepts, and fires when it should', { skip: withPromtool }, async (t) => {
    for (const args of [
      ['check', 'config', inRoot('deploy/prometheus/prometheus.yml')],
      ['test', 'rules', ...CASES.map(inRoot)],
    ]) {
      const { code, stdout, stderr } = await run(PROMTOOL, args)
      t.equal(code, 0, `${stdout}${stderr}`)
    }
  })

  t.test('is parsed correctly by this test', async (t) => {
    const expr =
      'sum by (job) (rate(a_total{code=~"5..", x!="b"}[5m])) / on (job) group_right () c > 0.1 and d == 0'
    t.same(wantedBy(expr), [
      { metric: 'a_total', labels: ['code', 'x'] },
      { metric: 'c', labels: [] },
      { metric: 'd', labels: [] },
    ])
    t.same(groupingLabels(expr), ['job', 'job'])
  })
})

t.test('deploy/grafana/holdfast.json', async (t) => {
  t.test('has panels with queries, no two at one place or with one id', async (t) => {
    t.ok(CHARTS.length > 20)
    const { panels } = DASHBOARD
    t.equal(new Set(panels.map(({ id }) => id)).size, panels.length)
    t.equal(new Set(panels.map(({ gridPos: { x, y } }) => `${x} ${y}`)).size, panels.length)
    for (const { title, targets, datasource, gridPos } of CHARTS) {
      t.ok((targets ?? []).length > 0, title)
      t.same(datasource, { type: 'prometheus', uid: '${datasource}' }, title)
      t.ok(gridPos.x + gridPos.w <= 24, title)
    }
  })
})

t.test(
  'docs/observability.md names each alert and recording rule, and each panel with its description',
  async (t) => {
    const page = read('docs/observability.md')
    for (const { title, description = '' } of CHARTS) {
      t.match(description, /^[A-Z0-9].{20,}\.$/, `${title}: a sentence says what it shows`)
      t.match(page, `| ${title} | ${description} |`, title)
    }
    for (const { alert } of alertRules()) t.match(page, `| \`${alert}\` |`, alert)
    for (const { record } of recordingRules()) t.match(page, `- \`${record}\``, record)
  },
)

t.test('beside a running cluster', async (t) => {
  // No receiver listens there: the figures of an export are served whether or not it succeeds.
  for (const name of ['PER_TENANT', 'PER_BUCKET']) process.env[`HOLDFAST_METRICS__${name}`] = 'true'
  const collector = await TraceCollector.start(t)
  process.env['HOLDFAST_TRACING__URL'] = collector.url
  process.env['HOLDFAST_TRACING__SAMPLE'] = '100%'
  const backups = `backup:\n  directory: ${JSON.stringify(temporaryFolder(t))}\n`
  const cluster = await ProcessCluster.start(t, 3, EXPORTING + backups)
  await cluster.login('n1')
  await setBackupSchedule(cluster)
  await cluster.call('n1', 'POST', '/buckets', JSON.stringify({ name: 'kept' }))
  const page = async (): Promise<string> => {
    const answers = cluster.plan.map(({ adminUrl }) => fetch(`${adminUrl}/metrics`))
    return (await Promise.all(answers.map(async (answer) => (await answer).text()))).join('\n')
  }

  await t.test('every metric and label of an alert rule and of the dashboard is served', async (t) => {
    // A few metrics appear with their first value: the disk was measured, a peer was reached, a scrub has started.
    const late = [
      'holdfast_blob_disk_free_bytes',
      'holdfast_raft_peer_last_contact_seconds',
      'holdfast_scrub_started_timestamp_seconds',
      'holdfast_scrub_last_full_timestamp_seconds',
    ]
    await until('all figures are there', async () => {
      const names = served(await page())
      return late.every((name) => names.has(name))
    })
    const names = served(await page()).set('up', new Set())
    for (const { record, expr } of recordingRules()) {
      for (const { metric } of wantedBy(expr)) t.ok(names.has(metric), `${record}: ${metric}`)
      names.set(record, new Set(groupingLabels(expr)))
    }
    // A cluster on loopback has no certificates; test/process/certificates.test.ts asks one that has.
    const certificates = { validity: { certificateEndsAt: 0, authorityEndsAt: 0 }, isStale: false }
    for (const { name, labels = {} } of certificateSamples('peer', certificates))
      names.set(name, new Set(Object.keys(labels)))
    // Its nodes have one disk each; test/process/several-disks.test.ts asks nodes that have two.
    const disk = {
      directory: '/',
      diskId: 'a',
      status: 'serving',
      level: 'open',
      totalBytes: 1,
      freeBytes: 1,
    } as const
    const ofDisks = [...partGauges(disk), ...drainSamples(0, 0), ...evenOutSamples(0, 0)]
    for (const { name, labels = {} } of ofDisks) names.set(name, new Set(Object.keys(labels)))
    // It has verified no backup; test/process/backup-tenant.test.ts asks a cluster that has.
    const check = { target: 'nas', tenantId: null, checkedAt: 0, damageCount: 0 }
    for (const { name, labels = {} } of checkSamples([check])) names.set(name, new Set(Object.keys(labels)))
    const labels = new Set([...names.values()].flatMap((of) => [...of]).concat(TARGET_LABELS))
    for (const { alert, expr } of alertRules()) {
      t.ok(wantedBy(expr).length > 0, alert)
      for (const { metric, labels: selected } of wantedBy(expr)) {
        t.ok(names.has(metric), `${alert}: ${metric}`)
        const has = [...(names.get(metric) ?? []), ...TARGET_LABELS]
        t.same(
          selected.filter((label) => !has.includes(label)),
          [],
          `${alert}: labels of ${metric}`,
        )
      }
      for (const label of groupingLabels(expr)) t.ok(labels.has(label), `${alert}: ${label}`)
    }
    for (const { title, targets = [] } of CHARTS) {
      for (const { expr, legendFormat } of targets) {
        t.ok(wantedBy(expr).length > 0, title)
        for (const { metric, labels: selected } of wantedBy(expr)) {
          t.ok(names.has(metric), `${title}: ${metric}`)
          for (const label of selected) t.ok(labels.has(label), `${title}: ${label}`)
        }
        const shown = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label)
        for (const label of [...groupingLabels(expr), ...shown]) t.ok(labels.has(label), `${title}: ${label}`)
      }
    }
  })

  await t.test(
    'Prometheus loads the rules, scrapes the nodes and answers the panels',
    { skip: withPrometheus },
    async (t) => {
      const targets = cluster.plan.map(({ adminUrl }) => new URL(adminUrl).host)
      const { ask, url } = await startPrometheus(t, targets)
      await until('three nodes are scraped twice', async () => {
        const [samples] = (await ask('query', { query: 'min(count_over_time(up[5m]))' })).result
        return Number(samples?.value?.[1] ?? 0) >= 2
      })
      const { groups } = await ask('rules', {})
      const rules = groups.flatMap((group) => group.rules)
      t.equal(rules.length, alertRules().length + recordingRules().length)
      for (const { name, lastError } of rules) t.notOk(lastError, name)
      for (const { title, targets: queries = [] } of CHARTS) {
        for (const { expr } of queries) {
          const query = expr.replaceAll('$job', '.*').replaceAll('$instance', '.*')
          const { result } = await ask('query', { query })
          const isOfSeveralDisks = wantedBy(expr).every(({ metric }) => metric.startsWith('holdfast_disk_'))
          t.ok(result.length > 0 || isOfSeveralDisks, `${title}: ${query}`)
        }
      }
      const prometheus = new Prometheus({ url, job: 'holdfast' })
      t.teardown(() => prometheus.close())
      // Refusals and failures have not happened, and the S3 API was not asked.
      const wanted = SERIES.filter((name) => !/^s3|Refused$|Failed$/.test(name))
      const ofOne = ['nativeOk', 'answerP50', 'answerP99', 'commitP99', 'followerLag']
      await until('each chart has its figures', async () => {
        for (const status of ['Suspended', 'Enabled'])
          await cluster.call('n1', 'PUT', '/buckets/kept/versioning', JSON.stringify({ status }))
        const span = { endSeconds: Math.floor(Date.now() / 1000), stepSeconds: 1, points: 3 }
        const nodes = await prometheus.read(span)
        const known = (name: SeriesName): number =>
          [...nodes.values()].filter((series) => !Number.isNaN(series[name].at(-1))).length
        return nodes.size === 3 && wanted.every((name) => known(name) >= (ofOne.includes(name) ? 1 : 3))
      })
    },
  )

  await t.test('the trace of an upload shows the copies on three nodes and its change', async (t) => {
    const { status } = await cluster.call('n1', 'PUT', '/buckets/kept/objects/a', Buffer.alloc(300_000, 'a'))
    t.equal(status, 200)
    const ofUpload = (): readonly CollectedSpan[] => {
      const [request] = collector.named('putObject')
      return collector.spans.filter(({ traceId }) => traceId === request?.traceId)
    }
    await until(
      'three copies are reported',
      () => ofUpload().filter(({ name }) => name === 'write copy').length === 3,
    )
    const spans = ofUpload()
    const nodes = spans
      .filter(({ name }) => name === 'write copy')
      .map(({ attributes }) => attributes.find(({ key }) => key === 'holdfast.node')?.value.stringValue)
    t.same(new Set(nodes), new Set(['n1', 'n2', 'n3']))
    const [body] = spans.filter(({ name }) => name === 'store body')
    for (const { name, parentSpanId } of spans)
      if (name === 'write copy' || name === 'seal') t.equal(parentSpanId, body?.spanId, name)
    for (const name of ['authenticate', 'read barrier', 'seal', 'propose', 'answer'])
      t.ok(
        spans.some((span) => span.name === name),
        name,
      )
  })

  await t.test('the probes that the error rate leaves out have the names it uses', async (t) => {
    await fetch(`${cluster.node('n1').dataUrl}/readyz`)
    const text = await page()
    for (const operation of ['readyz', 'adminReadyz']) t.match(text, `operation="${operation}"`)
  })

  await t.test('the probe succeeds for a live node', async (t) => {
    const url = `${cluster.node('n1').adminUrl}/healthz`
    t.same(await probe(url), { code: 0, stdout: '', stderr: '' })
    const byEnvironment = await run(process.execPath, [inRoot('deploy/probe.mjs')], {
      HOLDFAST_PROBE_URL: url,
    })
    t.same(byEnvironment, { code: 0, stdout: '', stderr: '' })
  })

  await t.test(
    'the smoke test uploads through one node and downloads through the others',
    { skip: withCurl },
    async (t) => {
      const [first = '', ...others] = cluster.plan.map(({ dataUrl }) => dataUrl)
      const urls = [cluster.node('n2').adminUrl, first, ...others]
      const environment = { HOLDFAST_OWNER_TOKEN: cluster.setup.ownerToken, SMOKE_MIB: '1' }
      const good = await run('bash', [inRoot('deploy/smoke.sh'), ...urls], environment)
      t.match(good, { code: 0, stderr: '', stdout: /^smoke: uploaded 1 MiB/ })
      t.equal(good.stdout.match(/sha256 agrees/g)?.length, 2)
      const unknown = { ...environment, HOLDFAST_OWNER_TOKEN: `svcadm_${'A'.repeat(43)}` }
      const denied = await run('bash', [inRoot('deploy/smoke.sh'), ...urls], unknown)
      t.match(denied, { code: 1, stdout: '', stderr: /^smoke: 401 from .*tenants/ })
      t.notMatch(denied.stderr, unknown.HOLDFAST_OWNER_TOKEN)
    },
  )

  const history = async (): Promise<ReadonlyMap<string, readonly (number | null)[] | undefined>> => {
    const { body } = await cluster.admin('n1', { method: 'GET', path: '/cluster/history' })
    const { nodes } = JSON.parse(body.toString()) as {
      readonly nodes: readonly {
        readonly nodeId: string
        readonly series: Readonly<Record<string, readonly (number | null)[]>> | null
      }[]
    }
    return new Map(nodes.map(({ nodeId, series }) => [nodeId, series?.['memory']]))
  }
  await t.test('any node knows the last minutes of all nodes [membership.history]', async () => {
    await until('a point of each node is there', async () =>
      [...(await history()).values()].every((memory) => memory?.some((bytes) => (bytes ?? 0) > 1e6) === true),
    )
  })

  await t.test('the smoke test and the probe fail when a node is gone', { skip: withCurl }, async (t) => {
    await cluster.signal('n3', 'SIGKILL')
    const { adminUrl, dataUrl } = cluster.node('n3')
    await until('charts are without n3', async () => {
      const shown = await history()
      return shown.get('n3') === undefined && shown.get('n2') !== undefined
    })
    t.match(await probe(`${adminUrl}/healthz`), { code: 1, stderr: /does not answer: .*ECONNREFUSED/ })
    await cluster.signal('n2', 'SIGKILL')
    const alone = cluster.node('n1').adminUrl
    await until('n1 notices the lost majority', async () => !(await cluster.ready('n1')))
    t.match(await probe(`${alone}/readyz`), { code: 1, stderr: /answered 503: .*No leader is known/ })
    t.match(await probe(`${alone}/healthz`), { code: 0 }, 'it must not be killed for that')
    t.match(await probe(), { code: 2, stderr: /^usage/ })
    const environment = { HOLDFAST_OWNER_TOKEN: cluster.setup.ownerToken }
    const smoke = await run('bash', [inRoot('deploy/smoke.sh'), adminUrl, dataUrl, dataUrl], environment)
    t.match(smoke, { code: 1, stderr: /smoke: no answer from/ })
  })
})

/** Its figures are there while one is set. */
async function setBackupSchedule(cluster: ProcessCluster): Promise<void> {
  const put = async (path: string, body: object) => {
    const answer = await cluster.admin('n1', { method: 'PUT', path, body })
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.body.toString()}`)
  }
  await put('/cluster/backup-targets/nas', { directory: {} })
  await put('/cluster/backup-schedules/nightly', { target: 'nas', when: '30 2 * * *', paused: true })
}
