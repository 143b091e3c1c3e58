/**
 * Every change of the admin plane rehearsed, as the examples have it: nothing changes, nothing is made that could be shown.
 *
 * The story of the examples is told, and before each step that takes `dryRun` the same is asked as a dry run: what is
 * rehearsed is about to succeed, so that it changes nothing says something.
 */
import t from 'tap'
import type { Access } from '../../src/access/access.ts'
import { adminPlane } from '../../src/api/admin/routes.ts'
import { ApiWorld, type Ask, METRICS } from './api-world.ts'
import { askOf, type ExampleId, isAdmin, operationIdOf, operationOf, STORY, takes } from './example-story.ts'

const SECRET = /"secretKey"|svcadm_|svctk_|whsec_/

const takesDryRun = (id: ExampleId): boolean =>
  (operationOf(id).parameters ?? []).some((one) => one.name === 'dryRun')

function asDryRun(ask: Ask): Ask {
  if (ask.path.includes('dryRun=true')) return ask
  return { ...ask, path: `${ask.path}${ask.path.includes('?') ? '&' : '?'}dryRun=true` }
}

/** Says each secret that is made. */
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

t.test('every route that changes something can be rehearsed', async (t) => {
  const changes = adminPlane(METRICS).routes.filter(({ method }) => method !== 'GET' && method !== 'HEAD')
  t.ok(changes.length > 14)
  for (const { operationId, query } of changes)
    t.ok(Object.hasOwn(query?.properties ?? {}, 'dryRun'), operationId)
})

t.test(
  'a dry run says what would be done and changes nothing [admin.dry-run] [admin.dry-run.no-secret]',
  async (t) => {
    const world = await ApiWorld.start(t, { limits: { adminRequestsBurst: 10_000 } })
    const { memory } = world
    const owner = await memory.adminToken('owner')
    let made = 0
    memory.services.access = watched(memory.services.access, () => (made += 1))
    const answers: Record<string, unknown> = {}
    const rehearsed = new Set<string>()
    let token: string | undefined
    for (const id of STORY) {
      const bearer = isAdmin(id) ? owner : token
      const mayBear = takes(operationOf(id), 'bearer') && bearer !== undefined
      const ask = { ...askOf(id, answers), ...(mayBear ? { token: bearer } : {}) }
      const operation = operationIdOf(id)
      if (takesDryRun(id)) {
        const before = [memory.checksum(), memory.proposals, made]
        const heard = await world.call(asDryRun(ask))
        // What the story itself only rehearses may be blocked in a cluster of one.
        const free = ask.path.includes('dryRun=true') ? {} : { allowed: true, blockers: [] }
        t.match(heard, { status: 200, json: { dryRun: true, operation, ...free } }, id)
        t.notMatch(heard.bytes.toString(), SECRET, `${id} shows no secret`)
        t.same([memory.checksum(), memory.proposals, made], before, `${id} changes and makes nothing`)
        rehearsed.add(operation)
      }
      const { status, json } = await world.call(ask)
      t.ok(status < 300, `${id} then goes through: ${status}`)
      answers[id] = json
      if (id === 'createToken') token = String(json['token'])
    }
    t.ok(made >= 3, 'secrets that are made are seen')
    const all = STORY.filter(takesDryRun).map(operationIdOf)
    t.same([...rehearsed].sort(), [...new Set(all)].sort())
  },
)
