/**
 * The rules of one bucket, a tab for each kind, for who has an access key of its tenant.
 */
import { Card } from '../../parts/basics.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { linkTo, place } from '../../state/route.ts'
import { keySession } from '../../state/session.ts'
import { TEXT } from '../../words/strings.ts'
import { CorsTab } from './cors.tsx'
import { LifecycleTab } from './lifecycle.tsx'
import { ReplicationTab } from './replication.tsx'
import { WebhooksTab } from './webhooks.tsx'

const SAYS = TEXT.rules

const TABS = {
  lifecycle: LifecycleTab,
  replication: ReplicationTab,
  notifications: WebhooksTab,
  cors: CorsTab,
} as const
type Name = keyof typeof TABS
const NAMES = Object.keys(TABS) as Name[]

export function BucketScreen() {
  const { item: bucket, inner } = place.value
  if (keySession.value === null)
    return (
      <Card title={bucket}>
        <p class="soft">
          {SAYS.noKey} <a href={linkTo('objects')}>{TEXT.objects.logIn}</a>
        </p>
      </Card>
    )
  const shown = NAMES.find((name) => name === inner) ?? 'lifecycle'
  const Shown = TABS[shown]
  return (
    <>
      <nav class="trail" aria-label={TEXT.objects.trail}>
        <a href={linkTo('objects')}>{TEXT.objects.buckets}</a>
        <a href={linkTo('objects', bucket)}>{bucket}</a>
        <span>{SAYS.open}</span>
      </nav>
      <Tabs
        label={SAYS.open}
        tabs={NAMES.map((name) => ({
          text: SAYS.tabs[name],
          href: linkTo('bucket', bucket, name),
          isShown: name === shown,
        }))}
      />
      <Shown key={`${bucket} ${shown}`} bucket={bucket} />
    </>
  )
}
