"""Filters tracks with bayesian-filters, as an oracle for src/core/tracking/filter.ts.

Reads a list of tracks as JSON from a file. A track has `noise` (m/s2), `gate`, `speed` (standard deviation of the
velocity at the start, m/s) and `fixes` [ms, east, north, accuracy]. Prints the state after each fix as JSON:
[east, north, east velocity, north velocity, position variance, covariance, velocity variance, accepted].
"""

import json
import sys

import numpy as np
from bayesian_filters.common import Q_discrete_white_noise
from bayesian_filters.kalman import KalmanFilter


def filtered(track):
    states = []
    kf = KalmanFilter(dim_x=4, dim_z=2)
    kf.H = np.array([[1.0, 0, 0, 0], [0, 0, 1.0, 0]])
    at = None
    for ms, east, north, accuracy in track["fixes"]:
        accepted = True
        if at is None:
            kf.x = np.array([[east], [0], [north], [0]], dtype=float)
            kf.P = np.diag([accuracy**2, track["speed"] ** 2] * 2).astype(float)
            at = ms
        else:
            dt = (ms - at) / 1000
            x, p = kf.x.copy(), kf.P.copy()
            axis = np.array([[1, dt], [0, 1]])
            noise = Q_discrete_white_noise(dim=2, dt=dt, var=track["noise"] ** 2)
            kf.predict(F=np.kron(np.eye(2), axis), Q=np.kron(np.eye(2), noise))
            z = np.array([[east], [north]])
            innovation = z - kf.H @ kf.x
            covariance = kf.H @ kf.P @ kf.H.T + np.eye(2) * accuracy**2
            squared = (innovation.T @ np.linalg.inv(covariance) @ innovation).item()
            accepted = squared <= track["gate"]
            if accepted:
                kf.update(z, R=np.eye(2) * accuracy**2)
                at = ms
            else:
                kf.x, kf.P = x, p
        x = kf.x.flatten()
        states.append([x[0], x[2], x[1], x[3], kf.P[0, 0], kf.P[0, 1], kf.P[1, 1], 1 if accepted else 0])
    return states


with open(sys.argv[1]) as file:
    print(json.dumps([filtered(track) for track in json.load(file)], default=float))
