/**
 * A dry run of every change of the admin plane, from the examples: nothing changes, no secret is created.
 *
 * The examples run as a story, and before each step that takes `dryRun` the same request is sent as a dry run. The real step
 * succeeds right after it, so a dry run without effect is meaningful.
 */
import { TWO_DISKS } from '../helpers/disk-samples.ts'
import { foundThree } from '../helpers/membership-samples.ts'
import t from 'tap'
import type { Access } from '../../src/access/access.ts'
import { adminPlane } from '../../src/api/admin/routes.ts'
import { ApiWorld, type Ask, METRICS } from './api-world.ts'
import {
  askOf,
  type ExampleId,
  isAdmin,
  operationIdOf,
  operationOf,
  PREPARED,
  STORY,
  takes,
} from './example-story.ts'

const SECRET = /"secretKey"|svcadm_|svctk_|whsec_/

const takesDryRun = (id: ExampleId): boolean =>
  (operationOf(id).parameters ?? []).some((one) => one.name === 'dryRun')

function asDryRun(ask: Ask): Ask {
  if (ask.path.includes('dryRun=true')) return ask
  return { ...ask, path: `${ask.path}${ask.path.includes('?') ? '&' : '?'}dryRun=true` }
}

/** Reports each created secret. */
function watched(access: Access, made: () => void): Access {
  const methods: (keyof Access)[] = ['newAccessKey', 'newSecret', 'newTenantKeys', 'newHook']
  return new Proxy(access, {
    get: (of, name: keyof Access) => {
      const method = of[name].bind(of) as (...given: unknown[]) => unknown
      return (...given: unknown[]) => {
        if (methods.includes(name)) made()
        return method(...given)
      }
    },
  })
}

t.test('every route that changes something takes a dry run', async (t) => {
  // Questions that are asked with a body, and change nothing.
  const questions = ['planClusterPlacement', 'testAccess', 'verifyAuditChain']
  const changes = adminPlane(METRICS).routes.filter(
    ({ method, operation }) => !['GET', 'HEAD'].includes(method) && !questions.includes(operation.id),
  )
  t.ok(changes.length > 14)
  for (const { operation, query } of changes)
    t.ok(Object.hasOwn(query?.properties ?? {}, 'dryRun'), operation.id)
})

t.test(
  'a dry run returns the plan and changes nothing [admin.dry-run] [admin.dry-run.no-secret]',
  async (t) => {
    const world = await ApiWorld.start(t, { limits: { adminRequestsBurst: 10_000 } })
    const { memory } = world
    const owner = await memory.adminToken('owner')
    await foundThree(memory)
    memory.repairs = TWO_DISKS
    await memory.change(PREPARED)
    let made = 0
    memory.services.access = watched(memory.services.access, () => (made += 1))
    const answers: Record<string, unknown> = {}
    const tried = new Set<string>()
    let token: string | undefined
    for (const id of STORY) {
      const bearer = isAdmin(id) ? owner : token
      const mayBear = takes(operationOf(id), 'bearer') && bearer !== undefined
      const ask = { ...askOf(id, answers), ...(mayBear ? { token: bearer } : {}) }
      const operation = operationIdOf(id)
      if (takesDryRun(id)) {
        const before = [memory.checksum(), memory.proposals, made]
        const answer = await world.call(asDryRun(ask))
        // Dry runs of the story itself may be blocked in a cluster of one.
        const free = ask.path.includes('dryRun=true') ? {} : { allowed: true, blockers: [] }
        t.match(answer, { status: 200, json: { dryRun: true, operation, ...free } }, id)
        t.notMatch(answer.bytes.toString(), SECRET, `${id} shows no secret`)
        t.same([memory.checksum(), memory.proposals, made], before, `${id} changes and makes nothing`)
        tried.add(operation)
      }
      const { status, json } = await world.call(ask)
      t.ok(status < 300, `${id} then goes through: ${status}`)
      answers[id] = json
      if (id === 'createToken') token = String(json['token'])
    }
    t.ok(made >= 3, 'secrets that are made are seen')
    const all = STORY.filter(takesDryRun).map(operationIdOf)
    t.same([...tried].sort(), [...new Set(all)].sort())
  },
)
