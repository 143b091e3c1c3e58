/**
 * Dark, light, or as the system; kept in the browser.
 */
import { effect, signal } from '@preact/signals'

export const THEMES = ['auto', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

const KEPT_AS = 'holdfast-theme'

export const theme = signal<Theme>(kept())

function kept(): Theme {
  const found = localStorage.getItem(KEPT_AS)
  return THEMES.find((one) => one === found) ?? 'auto'
}

effect(() => {
  if (theme.value === 'auto') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme.value
  localStorage.setItem(KEPT_AS, theme.value)
})
