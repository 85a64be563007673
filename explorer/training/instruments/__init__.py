"""What is measured of a run at one step: one file each, a function of the nets and what they just did."""
