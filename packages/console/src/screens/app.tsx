/**
 * The frame around each screen: sections, title, theme, log-out.
 */
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { Button, Icon, type IconName } from '../parts/basics.tsx'
import { Brand } from '../parts/brand.tsx'
import { isLive } from '../state/live.ts'
import {
  INNER_SCREENS,
  linkTo,
  place,
  SCREENS,
  type Screen,
  type Section,
  sectionOf,
} from '../state/route.ts'
import { maySee } from '../state/rights.ts'
import { client, keySession, logOut } from '../state/session.ts'
import { type Theme, theme, THEMES } from '../state/theme.ts'
import { TEXT } from '../words/strings.ts'
import { Account } from './account.tsx'
import { ApiReference } from './api/reference.tsx'
import { Audit } from './audit.tsx'
import { Backups } from './backups.tsx'
import { BucketScreen } from './bucket-rules/bucket-screen.tsx'
import { BuildNotice } from './build-notice.tsx'
import { Charts } from './charts.tsx'
import { Cluster } from './cluster.tsx'
import { Health } from './health.tsx'
import { LogIn } from './log-in.tsx'
import { Objects } from './objects.tsx'
import { Operations } from './operations.tsx'
import { RequestsButton } from './requests.tsx'
import { Tenants } from './tenants.tsx'

const SHOWN: Readonly<Record<Screen, () => JSX.Element>> = {
  health: Health,
  charts: Charts,
  cluster: Cluster,
  operations: Operations,
  tenants: Tenants,
  objects: Objects,
  backups: Backups,
  audit: Audit,
  bucket: BucketScreen,
  api: ApiReference,
}

/** What an access key opens. */
const FOR_TENANTS = ['objects'] as const

export function App() {
  const isOperator = client.value !== null
  if (!isOperator && keySession.value === null) return <LogIn />
  const screens: readonly Section[] = isOperator ? SCREENS.filter(maySee) : FOR_TENANTS
  const reachable: readonly Screen[] = [...screens, ...INNER_SCREENS]
  const screen = reachable.find((one) => one === place.value.screen) ?? screens[0] ?? 'objects'
  const Shown = SHOWN[screen]
  return (
    <>
      <a class="skip" href="#content">
        {TEXT.skip}
      </a>
      <div class="frame">
        <Side screen={screen} screens={screens} />
        <Top screen={screen} />
        <main id="content" tabIndex={-1}>
          <BuildNotice />
          <Shown key={screen} />
        </main>
      </div>
    </>
  )
}

function Side({ screen, screens }: { readonly screen: Screen; readonly screens: readonly Section[] }) {
  return (
    <nav class="side" aria-label={TEXT.sections}>
      <a class="brand" href={linkTo(screens[0] ?? 'objects')}>
        <Brand />
      </a>
      <ul>
        {screens.map((name) => (
          <li key={name}>
            <a
              class="section"
              href={linkTo(name)}
              {...(name === sectionOf(screen) ? { 'aria-current': 'page' as const } : {})}
            >
              <Icon name={name satisfies IconName} />
              {TEXT.nav[name]}
            </a>
          </li>
        ))}
      </ul>
      <a class="section last" href={linkTo('api')}>
        <Icon name="api" />
        {TEXT.nav.api}
      </a>
      <a class="section" href="/docs/">
        <Icon name="docs" />
        {TEXT.nav.docs}
      </a>
    </nav>
  )
}

function Top({ screen }: { readonly screen: Screen }) {
  const title = TEXT.nav[screen]
  useEffect(() => {
    document.title = `${title} · ${TEXT.product}`
  }, [title])
  return (
    <header class="top">
      <h1>{title}</h1>
      {isLive.value === null || client.value === null ? null : (
        <span class={`live ${isLive.value ? 'on' : ''}`} role="status">
          {isLive.value ? TEXT.live.on : TEXT.live.off}
        </span>
      )}
      <select
        class="theme wide-only"
        aria-label={TEXT.theme.label}
        value={theme.value}
        onChange={(event) => (theme.value = event.currentTarget.value as Theme)}
      >
        {THEMES.map((name) => (
          <option key={name} value={name}>
            {TEXT.theme[name]}
          </option>
        ))}
      </select>
      <RequestsButton />
      <Account />
      <Button onClick={() => logOut()}>
        <Icon name="out" />
        <span>{TEXT.logOut}</span>
      </Button>
    </header>
  )
}
