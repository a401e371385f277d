import { Select } from '@mantine/core';
import { TriangleAlert } from 'lucide-react';
import { dayMs } from '../../../src-preload/contract/limits.ts';
import { lifeChoices } from './profiles.ts';

type LifeChoice = (typeof lifeChoices)[number]['value'];

interface LifeSelectProps {
  readonly value: LifeChoice;
  readonly onChange: (value: LifeChoice) => void;
}

/** How long the token lives, with a plain warning about one that does not expire. */
export function LifeSelect({ value, onChange }: LifeSelectProps) {
  return (
    <>
      <Select
        label="Token expires after"
        data={lifeChoices.map(({ value: choice, label }) => ({ value: choice, label }))}
        value={value}
        allowDeselect={false}
        onChange={(next) => onChange(lifeChoices.find((choice) => choice.value === next)?.value ?? value)}
      />
      {value === 'never' && (
        <p className="mg-notice" data-tone="changed">
          <TriangleAlert size={16} aria-hidden />
          Whoever finds this token can use it until you revoke it.
        </p>
      )}
    </>
  );
}

/** Milliseconds of a choice; null does not expire. */
export function lifeMs(value: LifeChoice): number | null {
  const days = lifeChoices.find((choice) => choice.value === value)?.days ?? null;
  return days === null ? null : days * dayMs;
}
