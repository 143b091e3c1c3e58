/**
 * Links between the parts of one screen; the address names the part that is shown.
 */
interface Tab {
  readonly text: string
  readonly href: string
  readonly isShown: boolean
}

export function Tabs({ label, tabs }: { readonly label: string; readonly tabs: readonly Tab[] }) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ text, href, isShown }) => (
        <a key={href} href={href} {...(isShown ? { 'aria-current': 'page' as const } : {})}>
          {text}
        </a>
      ))}
    </nav>
  )
}
