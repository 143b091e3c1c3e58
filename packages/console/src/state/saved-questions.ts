/**
 * Questions to the audit log that someone has named: kept in the browser, beside the theme. They hold names and ids, and no secret and no row.
 */
import { effect, signal } from '@preact/signals'
import { type SavedQuestion, savedOf } from '../forms/saved-questions.ts'

const KEPT_AS = 'holdfast-audit-questions'

export const savedQuestions = signal<readonly SavedQuestion[]>(savedOf(localStorage.getItem(KEPT_AS)))

effect(() => {
  if (savedQuestions.value.length === 0) localStorage.removeItem(KEPT_AS)
  else localStorage.setItem(KEPT_AS, JSON.stringify(savedQuestions.value))
})
