import { useEffect, useRef, useState } from 'preact/hooks';
import { Button, IconButton } from '../controls/button.tsx';
import fieldStyles from '../controls/field.module.css';
import { Select } from '../controls/select.tsx';
import { useNow } from '../controls/time.ts';
import typography from '../controls/typography.module.css';
import { setUrlParams, urlParam } from '../controls/url_state.ts';
import { t } from '../languages/language.ts';
import { clockText, dayText, inputText, inputTime, timeWithin, wholeText, zoneText } from '../languages/times.ts';
import { pastFromUrl } from '../map/view/map_url.ts';
import { errorText } from '../problems/sentences.ts';
import type { Range } from './history_api.ts';
import { goLive, goTo, isWritten, rangeFromUrl, SPANS, SPEEDS, showSpan, spanFromUrl, speedFromUrl } from './past.ts';
import { playback } from './playback.ts';
import { Failed } from './query.tsx';
import styles from './time_bar.module.css';
import { TimeMarks } from './time_marks.tsx';

/** Interval at which playback updates the URL. */
const ADDRESS_MS = 2_000;

/** Time bar of the map: live, or playback controls. */
export function TimeBar() {
  const pastMs = pastFromUrl();
  usePlaybackOfAddress(pastMs);
  if (pastMs !== undefined) return <PastBar pastMs={pastMs} />;
  const lookBack = (): void => goTo(Date.now() - (spanFromUrl().seconds * 1_000) / 4, Date.now());
  return (
    <div class={styles.pill} data-time-bar="live">
      <Button kind="quiet" icon="clock" onClick={lookBack}>
        {t('History')}
      </Button>
    </div>
  );
}

/** Synchronizes playback and URL in both directions. */
function usePlaybackOfAddress(pastMs: number | undefined): void {
  const speed = speedFromUrl();
  useEffect(() => playback.setSpeed(speed), [speed]);
  useEffect(() => {
    if (pastMs === undefined) playback.leave();
    else if (!isWritten() || playback.atMs.peek() === undefined) playback.seek(pastMs);
  }, [pastMs]);
  const isToPlay = pastMs !== undefined && urlParam('play') !== undefined;
  useEffect(() => {
    if (!isToPlay) return;
    // Going back to this entry of the browser's history, or loading it again, does not start playback.
    setUrlParams({ play: undefined });
    playback.play();
  }, [isToPlay]);
  useEffect(() => {
    let lastMs = 0;
    playback.onEnd = goLive;
    const end = playback.atMs.subscribe((atMs) => {
      const nowMs = Date.now();
      if (atMs === undefined || !playback.isPlaying.peek() || nowMs - lastMs < ADDRESS_MS) return;
      lastMs = nowMs;
      goTo(atMs, nowMs, { replace: true });
    });
    return () => {
      end();
      playback.onEnd = undefined;
      playback.leave();
    };
  }, []);
}

function PastBar({ pastMs }: { readonly pastMs: number }) {
  const nowMs = useNow(1_000);
  const atMs = playback.atMs.value ?? pastMs;
  const isPlaying = playback.isPlaying.value;
  const range = rangeFromUrl(nowMs);
  const { stepSeconds } = spanFromUrl();
  const wasPlaying = useRef(false);
  const go = (toMs: number): void => {
    playback.seek(toMs);
    goTo(toMs, Date.now());
  };
  const toggle = (): void => {
    if (!isPlaying) {
      playback.play();
      return;
    }
    playback.pause();
    goTo(playback.atMs.peek() ?? atMs, Date.now(), { replace: true });
  };
  // The space key already activates a focused button.
  const pressed = (event: KeyboardEvent): void => {
    const isOwn = event.target instanceof HTMLInputElement && event.target.type === 'range';
    if (event.key !== ' ' || !isOwn) return;
    event.preventDefault();
    toggle();
  };
  return (
    <section class={styles.bar} data-time-bar="past" aria-label={t('Time')} onKeyDown={pressed}>
      <div class={styles.row}>
        <IconButton
          icon={isPlaying ? 'pause' : 'play'}
          kind="main"
          label={isPlaying ? t('Pause') : t('Play')}
          onClick={toggle}
        />
        <IconButton icon="left" label={t('Step back')} onClick={() => go(atMs - stepSeconds * 1_000)} />
        <IconButton icon="right" label={t('Step forward')} onClick={() => go(atMs + stepSeconds * 1_000)} />
        <Clock atMs={atMs} onGo={go} />
        <PlaybackStatus />
        <span class={styles.space} />
        <Select
          class={styles.select}
          aria-label={t('Speed')}
          value={String(speedFromUrl())}
          options={SPEEDS.map((speed) => ({ value: String(speed), label: `${speed}×` }))}
          onChange={(speed) => setUrlParams({ speed })}
        />
        <Select
          class={styles.select}
          aria-label={t('Length of the time bar')}
          value={String(spanFromUrl().seconds)}
          options={SPANS.map(({ seconds, label }) => ({ value: String(seconds), label }))}
          onChange={(seconds) => showSpan(Number(seconds), Date.now())}
        />
        <Button icon="target" onClick={goLive}>
          {t('Live')}
        </Button>
      </div>
      <div class={styles.slide}>
        <TimeMarks />
        <Coverage range={range} />
        <input
          type="range"
          class={styles.slider}
          aria-label={t('Time shown on the map')}
          aria-valuetext={wholeText(atMs)}
          min={range.fromMs}
          max={range.toMs}
          step={stepSeconds * 1_000}
          value={atMs}
          onPointerDown={() => {
            wasPlaying.current = isPlaying;
            playback.pause();
          }}
          onInput={(event) => playback.seek(event.currentTarget.valueAsNumber)}
          onChange={(event) => {
            go(event.currentTarget.valueAsNumber);
            if (wasPlaying.current) playback.play();
            wasPlaying.current = false;
          }}
        />
        <div class={styles.ticks} aria-hidden="true">
          {ticksOf(range).map((tickMs) => (
            <span key={tickMs}>{timeWithin(tickMs, range.toMs - range.fromMs)}</span>
          ))}
        </div>
      </div>
    </section>
  );
}

/** Start, middle and end of the range. */
function ticksOf({ fromMs, toMs }: Range): readonly number[] {
  return [fromMs, (fromMs + toMs) / 2, toMs];
}

/** Displayed time; pressing it opens an input for another one. */
function Clock({ atMs, onGo }: { readonly atMs: number; readonly onGo: (atMs: number) => void }) {
  const [typed, setTyped] = useState<string>();
  const isOpen = typed !== undefined;
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (isOpen) input.current?.focus();
  }, [isOpen]);
  const submit = (event: Event): void => {
    event.preventDefault();
    const requestedMs = inputTime(typed ?? '');
    if (!Number.isFinite(requestedMs)) return;
    setTyped(undefined);
    onGo(requestedMs);
  };
  return (
    <div class={styles.clock}>
      <button
        type="button"
        class={styles.time}
        aria-expanded={isOpen}
        title={t('Go to a time')}
        onClick={() => setTyped(isOpen ? undefined : inputText(atMs))}
      >
        <span class={styles.day}>{dayText(atMs)}</span> <strong data-clock>{clockText(atMs)}</strong>{' '}
        <span class={typography.faint}>{zoneText(atMs)}</span>
      </button>
      {isOpen && (
        <form class={styles.goTo} onSubmit={submit} onKeyDown={({ key }) => key === 'Escape' && setTyped(undefined)}>
          <input
            ref={input}
            class={fieldStyles.input}
            type="datetime-local"
            step="1"
            aria-label={t('Date and time, {zone}', { zone: zoneText(atMs) })}
            value={typed}
            max={inputText(Date.now())}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
          <Button kind="main" type="submit">
            {t('Go')}
          </Button>
        </form>
      )}
    </div>
  );
}

/** Status of playback: loading, failures, missing data. */
function PlaybackStatus() {
  const { state, problem, isEmpty, isIncomplete, isCut } = playback.status.value;
  if (state === 'failed') {
    return (
      <div class={styles.problem}>
        <Failed problem={errorText(problem)} onAgain={() => playback.tryAgain()} />
      </div>
    );
  }
  const text = isIncomplete
    ? t('Some files of this time cannot be read, or a hub has not answered')
    : isEmpty
      ? t('Nothing was recorded at this time')
      : isCut
        ? t('Too many objects to show all')
        : state === 'loading'
          ? t('Loading …')
          : '';
  return (
    <span class={styles.standing} role="status" data-standing>
      {text}
    </span>
  );
}

/** Marks on the bar for fetched ranges with records. */
function Coverage({ range: { fromMs, toMs } }: { readonly range: Range }) {
  const { covered } = playback.status.value;
  const percent = (atMs: number): number => Math.min(100, Math.max(0, ((atMs - fromMs) / (toMs - fromMs)) * 100));
  return (
    <div class={styles.coverage} aria-hidden="true">
      {covered
        .filter((piece) => piece.toMs > fromMs && piece.fromMs < toMs && piece.hasData)
        .map((piece) => (
          <span
            key={`${piece.fromMs} ${piece.toMs}`}
            style={{ left: `${percent(piece.fromMs)}%`, width: `${percent(piece.toMs) - percent(piece.fromMs)}%` }}
          />
        ))}
    </div>
  );
}
